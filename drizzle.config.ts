// Migrations are generated from db/schema.ts and the table files beside it: `npm run db:generate`. No database is needed for that.
import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./db/schema.ts', './db/errands/table.ts', './db/files/table.ts', './db/fine-tuning/table.ts'],
  out: './db/migrations',
});
