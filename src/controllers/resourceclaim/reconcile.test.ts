import { describe, expect, it } from 'vitest';
import type { core, resource } from '#api';
import { claimFromTemplate, claimNamesOf, needsWork, withConsumers } from './reconcile.ts';

type Claim = resource.ResourceClaim;

const ENTRY: core.PodResourceClaim = { name: 'gpu', resourceClaimTemplateName: 't' };
const SPEC: resource.ResourceClaimSpec = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'x' } }] } };
const TEMPLATE: resource.ResourceClaimTemplate = {
  metadata: { name: 't', namespace: 'n' },
  spec: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: SPEC },
};
const ALLOCATION: resource.AllocationResult = { devices: {} };

interface Changes {
  readonly name?: string;
  readonly entry?: core.PodResourceClaim;
  readonly nodeName?: string;
  readonly status?: core.PodStatus;
}

function pod({ name = 'p', entry = ENTRY, nodeName, status }: Changes = {}): core.Pod {
  const spec = { containers: [], resourceClaims: [entry], ...(nodeName && { nodeName }) };
  return { metadata: { name, namespace: 'n', uid: 'u' }, spec, ...(status && { status }) };
}

function claim(owner: string, status: resource.ResourceClaimStatus = {}): Claim {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: owner, controller: true }];
  return { metadata: { name: 'p-gpu-1', namespace: 'n', ownerReferences }, spec: SPEC, status };
}

const RECORDED: core.PodStatus = { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'p-gpu-1' }] };

describe('a pod with claims', () => {
  it.each<[string, core.Pod, Claim | undefined, boolean]>([
    ['needs one that is not made yet', pod(), undefined, true],
    ['needs one that somebody deleted', pod({ status: RECORDED }), undefined, true],
    ['has the one that was made', pod({ status: RECORDED }), claim('u'), false],
    ['waits for one that it names itself', pod({ entry: { name: 'gpu', resourceClaimName: 'mine' } }), undefined, false],
    ['needs nothing when no claim is wanted', pod({ status: { resourceClaimStatuses: [{ name: 'gpu' }] } }), undefined, false],
    [
      'waits while the claim belongs to another',
      pod({ status: RECORDED, nodeName: 'x' }),
      claim('other', { allocation: ALLOCATION }),
      false,
    ],
    [
      'needs a reservation when it is on a node without',
      pod({ status: RECORDED, nodeName: 'x' }),
      claim('u', { allocation: ALLOCATION }),
      true,
    ],
    ['leaves reservations to the scheduler', pod({ status: RECORDED }), claim('u', { allocation: ALLOCATION }), false],
    ['needs nothing once it is done', pod({ status: { ...RECORDED, phase: 'Succeeded' } }), undefined, false],
  ])('%s', (_name, of, existing, expected) => {
    expect(needsWork(of, () => existing)).toBe(expected);
  });

  it('uses the claims of its status, the one for extended resources included', () => {
    const extendedResourceClaimStatus = { requestMappings: [], resourceClaimName: 'extended' };
    expect(claimNamesOf(pod({ status: { ...RECORDED, extendedResourceClaimStatus } }))).toEqual(['p-gpu-1', 'extended']);
  });

  it('gets a claim of its own from the template', () => {
    expect(claimFromTemplate(pod(), 'gpu', TEMPLATE)).toEqual({
      metadata: {
        generateName: 'p-gpu-',
        namespace: 'n',
        labels: { a: 'b' },
        annotations: { c: 'd', 'resource.kubernetes.io/pod-claim-name': 'gpu' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }],
      },
      spec: SPEC,
    });
  });

  it('gives its claim a name with something of both names, however long they are', () => {
    const draft = claimFromTemplate(pod({ name: 'p'.repeat(60) }), 'c'.repeat(40), TEMPLATE);
    expect(draft.metadata?.generateName).toBe(`${'p'.repeat(33)}-${'c'.repeat(22)}`);
  });
});

describe('a claim', () => {
  const consumer = { resource: 'pods', name: 'p', uid: 'u' };
  const reservedClaim = { ...claim('u', { allocation: ALLOCATION, reservedFor: [consumer] }) };
  const finalizers = ['resource.kubernetes.io/delete-protection'];

  it('is free again when its last consumer goes', () => {
    const freed = withConsumers({ ...reservedClaim, metadata: { ...reservedClaim.metadata, finalizers } }, []);
    expect(freed.status).toEqual({ reservedFor: [] });
  });

  it('stays allocated while somebody uses it, or when it was allocated by other means', () => {
    expect(withConsumers(reservedClaim, [consumer]).status).toEqual({ allocation: ALLOCATION, reservedFor: [consumer] });
    expect(withConsumers(reservedClaim, []).status).toEqual({ allocation: ALLOCATION, reservedFor: [] });
  });
});
