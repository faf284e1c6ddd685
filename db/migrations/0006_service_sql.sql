-- What a job waits for, kept in its row by the database itself, so that no version of the service can leave a job out of the
-- index of claimable ones (decision 0022).
create or replace function job_queue_entry() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.requirements := md5(jsonb_build_array(new.accelerator, new.min_memory_gb, new.runner_labels, new.languages)::text);
    insert into requirements (id, accelerator, min_memory_gb, runner_labels, languages)
    values (new.requirements, new.accelerator, new.min_memory_gb, new.runner_labels, new.languages)
    on conflict do nothing;
    -- Locked, none of them becomes ready unseen before this row can be seen.
    perform 1 from datasets where id = any (new.dataset_ids) and state <> 'ready' order by id for share;
    new.awaits_data := found;
  end if;
  new.delayed := new.state = 'queued' and new.available_at > now() + interval '1 millisecond';
  return new;
end $$;
--> statement-breakpoint
create or replace trigger job_queue_entry before insert or update of state, available_at on jobs for each row execute function job_queue_entry();
--> statement-breakpoint
create or replace function dataset_ready() returns trigger language plpgsql as $$
begin
  -- First the locks, then a look: of two datasets that become ready at once the later one sees both.
  perform 1 from jobs where awaits_data and project_id = new.project_id and new.id = any (dataset_ids) order by id for update;
  update jobs set awaits_data = exists (select 1 from datasets where id = any (jobs.dataset_ids) and state <> 'ready')
  where awaits_data and project_id = new.project_id and new.id = any (dataset_ids);
  return null;
end $$;
--> statement-breakpoint
create or replace trigger dataset_ready after update of state on datasets for each row when (new.state = 'ready' and old.state <> 'ready') execute function dataset_ready();
--> statement-breakpoint
-- In the transaction that ends a job: those that need it wait for one less, or fail, and so does what needs them.
create or replace function job_needs_settled() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from job_needs where needs_id = new.id) then
    return null;
  end if;
  if new.state = 'succeeded' then
    perform 1 from jobs where id in (select job_id from job_needs where needs_id = new.id) order by id for update;
    update jobs set unmet_needs = unmet_needs - 1
    where id in (select job_id from job_needs where needs_id = new.id) and state in ('queued', 'paused');
    return null;
  end if;
  -- Of a chain that has just failed as a whole every link comes by here: nothing is left to do.
  if not exists (
    select 1 from job_needs join jobs on jobs.id = job_needs.job_id
    where job_needs.needs_id = new.id and jobs.state in ('queued', 'paused')
  ) then
    return null;
  end if;
  perform 1 from jobs where id in (
    with recursive lost (id) as (
      select job_id from job_needs where needs_id = new.id
      union select job_needs.job_id from job_needs join lost on job_needs.needs_id = lost.id
    ) select id from lost
  ) order by id for update;
  with recursive lost (id) as (
    select job_id from job_needs where needs_id = new.id
    union select job_needs.job_id from job_needs join lost on job_needs.needs_id = lost.id
  )
  update jobs set state = 'failed', reason = 'dependency_failed', finished_at = now(),
    message = 'job ' || new.id || ', which it needs (by itself or through others), ended as ' || new.state
      || ': retry that one, then post this one again with the new id'
  where id in (select id from lost) and state in ('queued', 'paused');
  return null;
end $$;
--> statement-breakpoint
create or replace trigger job_needs_settled after update on jobs for each row
when (old.state is distinct from new.state and new.state in ('succeeded', 'failed', 'cancelled')) execute function job_needs_settled();
--> statement-breakpoint
-- Jobs from before: what runners must have, what they wait for, and a place in the queue by time.
insert into requirements (id, accelerator, min_memory_gb, runner_labels, languages)
select distinct on (1) md5(jsonb_build_array(accelerator, min_memory_gb, runner_labels, languages)::text), accelerator, min_memory_gb, runner_labels, languages
from jobs where state not in ('succeeded', 'failed', 'cancelled')
on conflict do nothing;
--> statement-breakpoint
update jobs set
  requirements = md5(jsonb_build_array(accelerator, min_memory_gb, runner_labels, languages)::text),
  awaits_data = exists (select 1 from datasets where id = any (jobs.dataset_ids) and datasets.state <> 'ready'),
  delayed = state = 'queued' and available_at > now(),
  ordering_key = (extract(epoch from created_at) * 1000000)::bigint - priority * 3600000000
where state not in ('succeeded', 'failed', 'cancelled');

--> statement-breakpoint
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
