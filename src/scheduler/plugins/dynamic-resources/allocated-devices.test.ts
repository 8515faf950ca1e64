import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AllocatedDevices } from './allocated-devices.ts';
import type { Claim } from './device-request.ts';

const DEVICES = ['a', 'b', 'c'];

describe('AllocatedDevices', () => {
  it('counts the same after any changes as from the start', () => {
    const device = fc.record({
      device: fc.constantFrom(...DEVICES),
      adminAccess: fc.boolean(),
      share: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    });
    const claim = fc.record({ uid: fc.integer({ min: 0, max: 6 }), devices: fc.array(device, { maxLength: 3 }) });
    const claims = fc.uniqueArray(claim.map(claimOf), { maxLength: 7, selector: ({ metadata }) => metadata.uid });
    fc.assert(
      fc.property(fc.array(fc.tuple(claims, claims), { minLength: 1, maxLength: 6 }), (steps) => {
        const following = new AllocatedDevices();
        let previous: readonly Claim[] = [];
        for (const [next, pending] of steps) {
          // Most claims stay the very objects that they were.
          const current = next.map((object) => previous.find(({ metadata }) => metadata.uid === object.metadata.uid) ?? object);
          following.follow(current, pending);
          following.follow(next, pending);
          previous = next;
          const fresh = new AllocatedDevices();
          fresh.follow(next, pending);
          expect(stateOf(following)).toEqual(stateOf(fresh));
        }
      }),
    );
  });

  it('does not count admin access', () => {
    const devices = new AllocatedDevices();
    devices.follow([claimOf({ uid: 1, devices: [{ device: 'a', adminAccess: true, share: undefined }] })], []);
    expect(devices.isUsed('driver/pool/a')).toBe(false);
  });
});

interface ClaimParts {
  readonly uid: number;
  readonly devices: readonly { readonly device: string; readonly adminAccess: boolean; readonly share: number | undefined }[];
}

function claimOf({ uid, devices }: ClaimParts): Claim {
  const results = devices.map(({ device, adminAccess, share }) => ({
    ...{ request: 'r', driver: 'driver', pool: 'pool', device, adminAccess },
    ...(share !== undefined && { shareID: `share-${share}`, consumedCapacity: { memory: `${share}Gi` } }),
  }));
  return { metadata: { uid: `${uid}` }, spec: {}, status: { allocation: { devices: { results } } } } as unknown as Claim;
}

function stateOf(devices: AllocatedDevices) {
  return DEVICES.map((name) => {
    const id = `driver/pool/${name}`;
    return [devices.isUsed(id), devices.isExclusive(id), devices.consumed(id, 'memory').toString()];
  });
}
