# Every target sets up what it needs by itself; git, make and Node 20 or newer with npm are presupposed.
.POSIX:
SHELL = /bin/sh
SETUP = . ./infra/setup.sh
.DEFAULT_GOAL = help
.PHONY: help demo small-world test bench lint accept-digits accept-kills accept-small-world accept-distill accept-stories fault gpu-bundle clean

help:
	@echo 'make demo            start everything on this machine, train the example, show it (about 5 minutes)'
	@echo 'make small-world     the whole cascade on five small domains, with a report (about 15 minutes); SEED=2 picks a seed'
	@echo 'make test            types, lint and all tests (at most 15 minutes on 2 cores)'
	@echo 'make lint            types, lint and the size report'
	@echo 'make bench           the benches listed in docs/bench.md; BENCH="engine --json" picks one'
	@echo 'make accept-digits   the long acceptance run on digit completion (about 15 minutes)'
	@echo 'make accept-kills    a cascade whose processes are killed at random, against an undisturbed one (about 10 minutes)'
	@echo 'make accept-small-world  three seeds of the small world and their held-out tasks (about 2 hours, resumable)'
	@echo 'make accept-distill  what those cascades lost, distilled back from their best checkpoints (about 2 hours, resumable)'
	@echo 'make accept-stories  a damaged story teller distilled back from what it was, in two ways (about 10 minutes)'
	@echo 'make fault           a real service hurt by a schedule of faults, and every promise looked into (about 40 minutes); FAULT="--seed 2"'
	@echo 'make gpu-bundle      one archive that tests and measures WebGPU on a machine with a GPU (docs/gpu.md)'
	@echo 'make clean           remove what set-up and runs left in the clone'

demo:
	@$(SETUP) && exec node cli/millrace.ts demo

small-world:
	@$(SETUP) && exec node examples/small-world/run.ts --seed "$(SEED)"

test:
	@exec sh infra/test.sh

lint:
	@$(SETUP) && npm run --silent typecheck && npm run --silent lint && npm run --silent sizes

bench:
	@$(SETUP) && exec npm run --silent bench -- $(BENCH)

accept-digits:
	@$(SETUP) && exec node test/accept/digits.ts

accept-kills:
	@$(SETUP) && exec node test/accept/kills.ts

accept-small-world:
	@$(SETUP) && exec node test/accept/small-world.ts

accept-distill:
	@$(SETUP) && exec node test/accept/distill.ts

accept-stories:
	@$(SETUP) && exec node test/accept/stories.ts

fault:
	@$(SETUP) && exec npm run --silent fault -- $(FAULT)

gpu-bundle:
	@$(SETUP) && exec node infra/gpu-bundle/build.ts

clean:
	rm -rf node_modules .node .millrace .test .bundle .wrangler
