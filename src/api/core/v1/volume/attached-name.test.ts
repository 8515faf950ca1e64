import { describe, expect, it } from 'vitest';
import { inTreeAttachedName, isInTreeAttachedName } from './attached-name.ts';

describe('the name of a disk in node statuses', () => {
  it.each([
    [
      { iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2026-01.com.example:disk', lun: 3 } },
      'kubernetes.io/iscsi/10.0.0.1:iqn.2026-01.com.example:disk:3',
    ],
    [{ fc: { targetWWNs: ['a', 'b'], lun: 0 } }, 'kubernetes.io/fc/[a b]:0'],
    [{ fc: { wwids: ['a', 'b'] } }, 'kubernetes.io/fc/[a b]'],
    [{ fc: { targetWWNs: ['a'] } }, undefined],
    [{}, undefined],
  ])('of %o is %s, as upstream writes it', (disk, name) => {
    expect(inTreeAttachedName(disk)).toBe(name);
    expect(isInTreeAttachedName(name ?? 'kubernetes.io/csi/d^h')).toBe(name !== undefined);
  });
});
