CREATE TABLE "serving_runners" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"name" text NOT NULL,
	"checkpoint_id" text,
	"model" text,
	"url" text NOT NULL,
	"secret" text NOT NULL,
	"version" text NOT NULL,
	"registered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "serving_runners" ADD CONSTRAINT "serving_runners_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "serving_runners_list" ON "serving_runners" USING btree ("project_id","id");