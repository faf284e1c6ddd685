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
ALTER TABLE "api_keys" ADD COLUMN "prefix" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "last_used_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "replaced_by" text;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "max_running" integer;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "weight" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit_rows" ADD CONSTRAINT "audit_rows_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_rows_list" ON "audit_rows" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "audit_rows_key" ON "audit_rows" USING btree ("key_id","id");--> statement-breakpoint
CREATE INDEX "audit_rows_thing" ON "audit_rows" USING btree ("thing");--> statement-breakpoint
CREATE INDEX "audit_rows_made" ON "audit_rows" USING btree ("made");