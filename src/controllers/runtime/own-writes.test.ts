import { describe, expect, it } from 'vitest';
import { OwnWrites } from './own-writes.ts';

const at = (resourceVersion: string) => ({ metadata: { name: 'x', resourceVersion } });

describe("a controller's own write", () => {
  it('is seen when every informer reached its version', () => {
    const writes = new OwnWrites();
    const [pods, sets] = [{ resourceVersion: '5' }, { resourceVersion: '9' }];
    expect(writes.clearSeen('a')).toBe(true);
    writes.wrote('a', pods, at('7'));
    writes.wrote('a', pods, at('6'));
    writes.wrote('a', sets, at('8'));
    expect(writes.clearSeen('a')).toBe(false);
    expect(writes.clearSeen('b')).toBe(true);
    pods.resourceVersion = '6';
    expect(writes.clearSeen('a')).toBe(false);
    pods.resourceVersion = '10';
    expect(writes.clearSeen('a')).toBe(true);
  });

  it('compares versions as numbers', () => {
    const writes = new OwnWrites();
    writes.wrote('a', { resourceVersion: '10' }, at('9'));
    expect(writes.clearSeen('a')).toBe(true);
  });

  it('is forgotten with its object', () => {
    const writes = new OwnWrites();
    writes.wrote('a', { resourceVersion: '1' }, at('2'));
    writes.forget('a');
    expect(writes.clearSeen('a')).toBe(true);
  });
});
