-- What is told of an event, or null. The names are those of api/contract/webhook.ts.
create or replace function webhook_event_type(body jsonb) returns text language sql immutable as $$
  select case body ->> 'type'
    when 'state' then case body ->> 'to'
      when 'running' then 'job.started'
      when 'paused' then 'job.paused'
      when 'succeeded' then 'job.succeeded'
      when 'failed' then 'job.failed'
      when 'cancelled' then 'job.cancelled'
    end
    when 'gate' then case body ->> 'result' when 'fired' then 'job.gate_failed' end
    when 'checkpoint' then 'checkpoint.committed'
    when 'evaluation' then 'evaluation'
  end
$$;
--> statement-breakpoint
-- As db/ids.ts makes them: 10 digits of time in base 32, 16 random ones.
create or replace function webhook_delivery_id() returns text language plpgsql volatile as $$
declare
  rest bigint := floor(extract(epoch from clock_timestamp()) * 1000);
  digits text := '';
begin
  for place in 1..10 loop
    digits := substr('0123456789abcdefghjkmnpqrstvwxyz', (rest % 32)::int + 1, 1) || digits;
    rest := rest / 32;
  end loop;
  return 'dlv_' || digits || left(md5(gen_random_uuid()::text), 16);
end $$;
--> statement-breakpoint
-- The outbox: what webhooks are to be told commits with the event, or neither does.
create or replace function events_outbox() returns trigger language plpgsql as $$
begin
  insert into webhook_deliveries (id, webhook_id, project_id, type, job_id, seq, job, created_at)
  select webhook_delivery_id(), w.id, e.project_id, told.type, e.job_id, e.seq,
    jsonb_build_object('id', j.id, 'name', j.name, 'state', j.state, 'reason', j.reason, 'labels', j.labels), e.created_at
  from webhooks w
  join new_events e on e.project_id = w.project_id
  cross join lateral (select webhook_event_type(e.body) as type) told
  join jobs j on j.id = e.job_id
  where w.active and told.type = any (w.events) and w.labels <@ j.labels;
  return null;
end $$;
--> statement-breakpoint
create or replace trigger events_outbox after insert on events referencing new table as new_events for each statement execute function events_outbox();
--> statement-breakpoint
-- Checkpoints and jobs that a spec names, and the checkpoint that the job goes on from. Labels and names refer to nothing.
create or replace function job_references(expanded jsonb, last_checkpoint text) returns text[] language sql immutable as $$
  select array(
    select (regexp_matches((expanded - 'labels' - 'name')::text, '"((?:ckpt|job)_[0-9a-z]{20,40})"', 'g'))[1]
    union select last_checkpoint where last_checkpoint is not null
  )
$$;
--> statement-breakpoint
-- Only what is there counts, and is held until the job's row is there too: whoever deletes a checkpoint or a job locks its row first
-- and then looks who refers to it.
create or replace function job_filled() returns trigger language plpgsql as $$
declare
  named text[] := job_references(new.expanded, new.last_checkpoint_id);
begin
  new.keep_last := (new.expanded #>> '{checkpoints,keep_last}')::integer;
  if named <> '{}' then
    new.refers_to := array(select id from checkpoints where project_id = new.project_id and id = any (named) order by id for key share)
      || array(select id from jobs where project_id = new.project_id and id = any (named) order by id for key share);
  end if;
  return new;
end $$;
--> statement-breakpoint
create or replace trigger job_filled before insert on jobs for each row execute function job_filled();
--> statement-breakpoint
update jobs set refers_to = job_references(expanded, last_checkpoint_id)
where state not in ('succeeded', 'failed', 'cancelled') and job_references(expanded, last_checkpoint_id) <> '{}';
