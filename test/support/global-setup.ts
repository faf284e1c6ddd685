// Runs once around the whole test run, in vitest's own process: a place for servers that all files share.
// It starts nothing by itself: a test that needs a server asks test/support/postgres.ts or rgw.ts for one.

export function setup(): void {}

export function teardown(): void {}
