// Migrations are generated from db/schema.ts and the tables beside it: `npm run db:generate`. No database is needed for that.
import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./db/schema.ts', './db/*/table.ts', './db/*/tables.ts'],
  out: './db/migrations',
});
