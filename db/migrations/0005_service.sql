CREATE TABLE "audit_rows" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"key_id" text NOT NULL,
	"key_name" text NOT NULL,
	"method" text NOT NULL,
	"route" text NOT NULL,
	"thing" text,
	"made" text,
	"status" integer,
	"request_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "files" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"filename" text NOT NULL,
	"purpose" text NOT NULL,
	"bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "fine_tuning_jobs" (
	"job_id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"model" text NOT NULL,
	"training_file" text NOT NULL,
	"validation_file" text,
	"suffix" text,
	"method" jsonb NOT NULL,
	"metadata" jsonb
);
--> statement-breakpoint
CREATE TABLE "doomed_objects" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "doomed_objects_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"prefix" text NOT NULL,
	"not_before" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passes" (
	"name" text PRIMARY KEY NOT NULL,
	"position" text,
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"webhook_id" text NOT NULL,
	"project_id" text NOT NULL,
	"type" text NOT NULL,
	"job_id" text,
	"seq" bigint,
	"job" jsonb,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_attempt_at" timestamp (3) with time zone,
	"last_status" integer,
	"last_error" text,
	"last_response" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"labels" jsonb NOT NULL,
	"active" boolean NOT NULL,
	"reason" text,
	"secret" text NOT NULL,
	"former_secret" text,
	"former_secret_until" timestamp (3) with time zone,
	"failing_since" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_needs" (
	"job_id" text NOT NULL,
	"needs_id" text NOT NULL,
	CONSTRAINT "job_needs_job_id_needs_id_pk" PRIMARY KEY("job_id","needs_id")
);
--> statement-breakpoint
CREATE TABLE "requirements" (
	"id" text PRIMARY KEY NOT NULL,
	"accelerator" text NOT NULL,
	"min_memory_gb" double precision NOT NULL,
	"runner_labels" jsonb NOT NULL,
	"languages" text[] DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
DROP INDEX "jobs_claim";--> statement-breakpoint
DROP INDEX "jobs_held";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "prefix" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "last_used_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "replaced_by" text;--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "swept_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "checkpoints" ADD COLUMN "pinned_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "requirements" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "unmet_needs" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "awaits_data" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "delayed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "retry_of" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "fork_of" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "began_from" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "ran_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "progressed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "signs" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "refers_to" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "keep_last" integer;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "max_running" integer;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "weight" double precision DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "served_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "runners" ADD COLUMN "shared" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "audit_rows" ADD CONSTRAINT "audit_rows_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "files" ADD CONSTRAINT "files_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "fine_tuning_jobs" ADD CONSTRAINT "fine_tuning_jobs_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "fine_tuning_jobs" ADD CONSTRAINT "fine_tuning_jobs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_needs" ADD CONSTRAINT "job_needs_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_needs" ADD CONSTRAINT "job_needs_needs_id_jobs_id_fk" FOREIGN KEY ("needs_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_rows_list" ON "audit_rows" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "audit_rows_key" ON "audit_rows" USING btree ("key_id","id");--> statement-breakpoint
CREATE INDEX "audit_rows_thing" ON "audit_rows" USING btree ("thing");--> statement-breakpoint
CREATE INDEX "audit_rows_made" ON "audit_rows" USING btree ("made");--> statement-breakpoint
CREATE INDEX "files_list" ON "files" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "fine_tuning_jobs_list" ON "fine_tuning_jobs" USING btree ("project_id","job_id");--> statement-breakpoint
CREATE INDEX "doomed_objects_due" ON "doomed_objects" USING btree ("not_before");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("webhook_id","next_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_list" ON "webhook_deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_age" ON "webhook_deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "webhooks_list" ON "webhooks" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "job_needs_needed" ON "job_needs" USING btree ("needs_id");--> statement-breakpoint
-- safe: built in moments at the sizes that any installation has before this version
CREATE INDEX "attempts_unswept" ON "attempts" USING btree ("ended_at") WHERE swept_at is null;--> statement-breakpoint
-- safe: built in moments at the sizes that any installation has before this version
CREATE INDEX "jobs_claimable" ON "jobs" USING btree ("project_id","requirements","ordering_key") WHERE state = 'queued' and unmet_needs = 0 and not awaits_data and not delayed;--> statement-breakpoint
-- safe: built in moments at the sizes that any installation has before this version
CREATE INDEX "jobs_delayed" ON "jobs" USING btree ("available_at") WHERE state = 'queued' and delayed;--> statement-breakpoint
-- safe: built in moments at the sizes that any installation has before this version
CREATE INDEX "jobs_awaiting_data" ON "jobs" USING btree ("project_id") WHERE awaits_data;--> statement-breakpoint
-- safe: built in moments at the sizes that any installation has before this version
CREATE INDEX "jobs_ended" ON "jobs" USING btree ("finished_at","id");--> statement-breakpoint
-- safe: built in moments at the sizes that any installation has before this version
CREATE INDEX "jobs_thinned" ON "jobs" USING btree ("id") WHERE keep_last is not null;--> statement-breakpoint
-- safe: built in moments at the sizes that any installation has before this version
CREATE INDEX "jobs_references" ON "jobs" USING gin ("refers_to") WHERE state not in ('succeeded', 'failed', 'cancelled') and refers_to <> '{}';--> statement-breakpoint
-- safe: built in moments at the sizes that any installation has before this version
CREATE INDEX "jobs_held" ON "jobs" USING btree ("project_id") WHERE state in ('running', 'pausing', 'cancelling');