// Migrations are generated from the tables below: `npm run db:generate`. No database is needed for that.
import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./db/schema.ts', './db/errands/table.ts', './db/queue/tables.ts'],
  out: './db/migrations',
});
