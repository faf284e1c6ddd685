// Addresses in a posted grader that this service must not send its runners to.
import type { GraderReference } from '../contract/expand.ts';
import type { Issue } from '../contract/issues.ts';
import { addressFault, hostKind } from '../contract/outgoing.ts';

/** For one grader, `pointer` to it. Names are looked up by the runner, when it calls. */
export function addressIssues({ pointer, grader }: GraderReference, allowPrivateAddresses: boolean): Issue[] {
  switch (grader.type) {
    case 'remote':
    case 'judge':
      return addressIssue(`${pointer}/url`, grader.url, allowPrivateAddresses);
    case 'swe':
      return grader.judge === undefined
        ? []
        : addressIssue(`${pointer}/judge/url`, grader.judge.url, allowPrivateAddresses);
    case 'preference':
    case 'exact':
    case 'prefix':
    case 'math':
    case 'instructions':
    case 'code':
      return [];
  }
}

function addressIssue(pointer: string, text: string, allowPrivate: boolean): Issue[] {
  const url = new URL(text);
  const fault = addressFault(hostKind(url), allowPrivate);
  return fault === undefined ? [] : [{ pointer, message: `${url.hostname} ${fault}` }];
}
