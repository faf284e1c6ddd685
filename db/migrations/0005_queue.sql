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
ALTER TABLE "projects" ADD COLUMN "max_running" integer;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "weight" double precision DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "served_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "runners" ADD COLUMN "shared" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "job_needs" ADD CONSTRAINT "job_needs_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_needs" ADD CONSTRAINT "job_needs_needs_id_jobs_id_fk" FOREIGN KEY ("needs_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "job_needs_needed" ON "job_needs" USING btree ("needs_id");--> statement-breakpoint
CREATE INDEX "jobs_claimable" ON "jobs" USING btree ("project_id","requirements","ordering_key") WHERE state = 'queued' and unmet_needs = 0 and not awaits_data and not delayed;--> statement-breakpoint
CREATE INDEX "jobs_delayed" ON "jobs" USING btree ("available_at") WHERE state = 'queued' and delayed;--> statement-breakpoint
CREATE INDEX "jobs_awaiting_data" ON "jobs" USING btree ("project_id") WHERE awaits_data;--> statement-breakpoint
CREATE INDEX "jobs_held" ON "jobs" USING btree ("project_id") WHERE state in ('running', 'pausing', 'cancelling');