CREATE TABLE "errands" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"kind" text NOT NULL,
	"state" text DEFAULT 'queued' NOT NULL,
	"payload" jsonb NOT NULL,
	"languages" text[] DEFAULT '{}' NOT NULL,
	"dataset_id" text,
	"results" jsonb,
	"reason" text,
	"message" text,
	"attempt" integer DEFAULT 0 NOT NULL,
	"lost_leases" integer DEFAULT 0 NOT NULL,
	"runner_id" text,
	"lease_expires_at" timestamp (3) with time zone,
	"available_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "datasets" ADD COLUMN "grader" jsonb;--> statement-breakpoint
ALTER TABLE "datasets" ADD COLUMN "message" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "languages" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "runners" ADD COLUMN "grader" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "runners" ADD COLUMN "languages" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "runners" ADD COLUMN "missing" jsonb DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "errands" ADD CONSTRAINT "errands_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "errands" ADD CONSTRAINT "errands_dataset_id_datasets_id_fk" FOREIGN KEY ("dataset_id") REFERENCES "public"."datasets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "errands" ADD CONSTRAINT "errands_runner_id_runners_id_fk" FOREIGN KEY ("runner_id") REFERENCES "public"."runners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "errands_claim" ON "errands" USING btree ("project_id","kind","id") WHERE state = 'queued';--> statement-breakpoint
CREATE INDEX "errands_held" ON "errands" USING btree ("id") WHERE state = 'running';--> statement-breakpoint
CREATE INDEX "errands_finished" ON "errands" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "errands_dataset" ON "errands" USING btree ("dataset_id");