// The SQL by which the database itself guards jobs, made from the state table: illegal moves are refused,
// every move takes the next event number and writes its `state` event, nothing follows the terminal event,
// and listeners hear of new events. Run as a script it prints the SQL; a migration holds that text, and a
// test compares the two: a change of states.ts needs a new migration.
import { jobStates, terminalStates } from '../api/contract/job.ts';
import { eventChannel } from './events/listen.ts';
import { initialState, moves } from './states.ts';

const quoted = (values: readonly string[]) => values.map((value) => `'${value}'`).join(', ');

export function stateGuardSql(): string {
  const edges = jobStates.flatMap((from) => moves[from].map((to) => `${from}>${to}`));
  return `-- Made from db/states.ts by \`node db/state-guard.ts\`.
create or replace function job_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.state <> '${initialState}' then
      raise exception 'a new job must be ${initialState}, not %', new.state using errcode = 'check_violation', constraint = 'job_initial_state';
    end if;
    new.event_seq := 1;
    return new;
  end if;
  if old.state in (${quoted(terminalStates)}) and (new.state <> old.state or new.event_seq <> old.event_seq) then
    raise exception 'job % is % for good', old.id, old.state using errcode = 'check_violation', constraint = 'job_terminal_state';
  end if;
  if new.state <> old.state then
    if old.state || '>' || new.state not in (${quoted(edges)}) then
      raise exception 'job %: no move from % to %', old.id, old.state, new.state using errcode = 'check_violation', constraint = 'job_legal_move';
    end if;
    new.event_seq := new.event_seq + 1;
  end if;
  return new;
end $$;
--> statement-breakpoint
create or replace trigger job_guard before insert or update on jobs for each row execute function job_guard();
--> statement-breakpoint
create or replace function job_state_event() returns trigger language plpgsql as $$
declare
  former text := case when tg_op = 'INSERT' then null else old.state end;
begin
  insert into events (job_id, seq, project_id, attempt, body)
  values (new.id, new.event_seq, new.project_id, new.attempt,
    jsonb_build_object('type', 'state', 'from', former, 'to', new.state, 'reason', new.reason, 'message', new.message));
  return null;
end $$;
--> statement-breakpoint
create or replace trigger job_created after insert on jobs for each row execute function job_state_event();
--> statement-breakpoint
create or replace trigger job_moved after update on jobs for each row when (old.state is distinct from new.state) execute function job_state_event();
--> statement-breakpoint
create or replace function events_notify() returns trigger language plpgsql as $$
begin
  perform pg_notify('${eventChannel}', job_id) from (select distinct job_id from new_events) as jobs_with_news;
  return null;
end $$;
--> statement-breakpoint
create or replace trigger events_notify after insert on events referencing new table as new_events for each statement execute function events_notify();
`;
}

if (process.argv[1] === import.meta.filename) process.stdout.write(stateGuardSql());
