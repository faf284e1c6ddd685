CREATE SEQUENCE "public"."job_arrival" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"job_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"project_id" text NOT NULL,
	"runner_id" text NOT NULL,
	"resumed_from" text,
	"checkpoints" integer DEFAULT 0 NOT NULL,
	"log_bytes" bigint DEFAULT 0 NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"outcome" text,
	"reason" text,
	"message" text,
	CONSTRAINT "attempts_job_id_attempt_pk" PRIMARY KEY("job_id","attempt")
);
--> statement-breakpoint
CREATE TABLE "checkpoints" (
	"id" text PRIMARY KEY NOT NULL,
	"job_id" text NOT NULL,
	"project_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"stage" text NOT NULL,
	"stage_index" integer NOT NULL,
	"step" integer NOT NULL,
	"kind" text NOT NULL,
	"prefix" text NOT NULL,
	"manifest_sha256" text NOT NULL,
	"size" bigint NOT NULL,
	"files" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "checkpoints_prefix" UNIQUE("job_id","prefix")
);
--> statement-breakpoint
CREATE TABLE "datasets" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"rows" integer NOT NULL,
	"size" bigint NOT NULL,
	"sha256" text NOT NULL,
	"key" text NOT NULL,
	"report" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "datasets_name" UNIQUE("project_id","name")
);
--> statement-breakpoint
CREATE TABLE "evaluations" (
	"job_id" text NOT NULL,
	"after" text NOT NULL,
	"suite" text NOT NULL,
	"domain" text NOT NULL,
	"mode" text NOT NULL,
	"metric" text NOT NULL,
	"value" double precision NOT NULL,
	"low" double precision NOT NULL,
	"high" double precision NOT NULL,
	"tasks" integer NOT NULL,
	"project_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"seq" bigint NOT NULL,
	CONSTRAINT "evaluations_job_id_after_suite_mode_metric_pk" PRIMARY KEY("job_id","after","suite","mode","metric")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"job_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"project_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"body" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "events_job_id_seq_pk" PRIMARY KEY("job_id","seq")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"project_id" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"status" integer,
	"response" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_project_id_key_pk" PRIMARY KEY("project_id","key")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"type" text NOT NULL,
	"name" text,
	"labels" jsonb NOT NULL,
	"spec" jsonb NOT NULL,
	"expanded" jsonb NOT NULL,
	"spec_version" integer NOT NULL,
	"state" text DEFAULT 'queued' NOT NULL,
	"reason" text,
	"message" text,
	"progress" jsonb,
	"event_seq" bigint DEFAULT 0 NOT NULL,
	"priority" integer NOT NULL,
	"ordering_key" bigint NOT NULL,
	"accelerator" text NOT NULL,
	"min_memory_gb" double precision NOT NULL,
	"runner_labels" jsonb NOT NULL,
	"dataset_ids" text[] NOT NULL,
	"available_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"max_attempts" integer NOT NULL,
	"failures_without_checkpoint" integer DEFAULT 0 NOT NULL,
	"runner_id" text,
	"lease_expires_at" timestamp (3) with time zone,
	"last_checkpoint_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "log_pieces" (
	"job_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"project_id" text NOT NULL,
	"start" bigint NOT NULL,
	"bytes" integer NOT NULL,
	"text" text NOT NULL,
	CONSTRAINT "log_pieces_job_id_attempt_start_pk" PRIMARY KEY("job_id","attempt","start")
);
--> statement-breakpoint
CREATE TABLE "metrics" (
	"job_id" text NOT NULL,
	"stage" text NOT NULL,
	"phase" integer NOT NULL,
	"step" integer NOT NULL,
	"mode" text NOT NULL,
	"key" text NOT NULL,
	"value" double precision,
	"project_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"seq" bigint NOT NULL,
	CONSTRAINT "metrics_job_id_stage_phase_step_mode_key_pk" PRIMARY KEY("job_id","stage","phase","step","mode","key")
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "projects_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "runner_reports" (
	"job_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"sequence" integer NOT NULL,
	"project_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "runner_reports_job_id_attempt_sequence_pk" PRIMARY KEY("job_id","attempt","sequence")
);
--> statement-breakpoint
CREATE TABLE "runners" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"name" text NOT NULL,
	"accelerator" text NOT NULL,
	"memory_gb" double precision NOT NULL,
	"labels" jsonb NOT NULL,
	"version" text NOT NULL,
	"registered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "runners_name" UNIQUE("project_id","name")
);
--> statement-breakpoint
CREATE TABLE "samples" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "samples_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"job_id" text NOT NULL,
	"project_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"stage" text NOT NULL,
	"phase" integer NOT NULL,
	"step" integer NOT NULL,
	"key" text NOT NULL,
	"line" integer NOT NULL,
	"task" integer NOT NULL,
	"rollout" integer NOT NULL,
	"mode" text NOT NULL,
	"status" text NOT NULL,
	"reward" double precision,
	CONSTRAINT "samples_line" UNIQUE("job_id","key","line")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_runner_id_runners_id_fk" FOREIGN KEY ("runner_id") REFERENCES "public"."runners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "checkpoints" ADD CONSTRAINT "checkpoints_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "checkpoints" ADD CONSTRAINT "checkpoints_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "datasets" ADD CONSTRAINT "datasets_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "evaluations" ADD CONSTRAINT "evaluations_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_runner_id_runners_id_fk" FOREIGN KEY ("runner_id") REFERENCES "public"."runners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "log_pieces" ADD CONSTRAINT "log_pieces_job_id_attempt_attempts_job_id_attempt_fk" FOREIGN KEY ("job_id","attempt") REFERENCES "public"."attempts"("job_id","attempt") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "metrics" ADD CONSTRAINT "metrics_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runner_reports" ADD CONSTRAINT "runner_reports_job_id_attempt_attempts_job_id_attempt_fk" FOREIGN KEY ("job_id","attempt") REFERENCES "public"."attempts"("job_id","attempt") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runners" ADD CONSTRAINT "runners_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "samples" ADD CONSTRAINT "samples_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "checkpoints_list" ON "checkpoints" USING btree ("project_id","job_id","id");--> statement-breakpoint
CREATE INDEX "jobs_claim" ON "jobs" USING btree ("project_id","accelerator","ordering_key") WHERE state = 'queued';--> statement-breakpoint
CREATE INDEX "jobs_held" ON "jobs" USING btree ("id") WHERE state in ('running', 'pausing', 'cancelling');--> statement-breakpoint
CREATE INDEX "jobs_list" ON "jobs" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "metrics_series" ON "metrics" USING btree ("job_id","seq");--> statement-breakpoint
CREATE INDEX "samples_step" ON "samples" USING btree ("job_id","stage","step");