// Migrations are generated from db/schema.ts and the tables beside it: `npm run db:generate`. No database is needed for that.
import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./db/schema.ts', './db/keys/table.ts', './db/errands/table.ts', './db/audit/table.ts'],
  out: './db/migrations',
});
