ALTER TABLE "evaluations" DROP CONSTRAINT "evaluations_job_id_after_suite_mode_metric_pk";--> statement-breakpoint
ALTER TABLE "evaluations" ADD COLUMN "step" integer;--> statement-breakpoint
ALTER TABLE "evaluations" ADD COLUMN "values" jsonb;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "passed_gates" integer[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "evaluations" ADD CONSTRAINT "evaluations_cell" UNIQUE NULLS NOT DISTINCT("job_id","after","step","suite","mode","metric");