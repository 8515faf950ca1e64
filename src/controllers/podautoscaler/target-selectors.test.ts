import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { TargetSelectors } from './target-selectors.ts';

const pods = [{ metadata: { name: 'p', labels: { app: 'web', tier: 'front' } } }] as unknown as readonly core.Pod[];

describe('selectors of targets', () => {
  it('are needed, and must make sense', () => {
    const selectors = new TargetSelectors();
    expect(() => selectors.parse('ns/a', '')).toThrow(
      expect.objectContaining({ message: 'selector is required', eventReason: 'SelectorRequired', conditionReason: 'InvalidSelector' }),
    );
    expect(() => selectors.parse('ns/a', 'a==b==c')).toThrow("couldn't convert selector into a corresponding internal selector object: ");
  });

  it('may not overlap', () => {
    const selectors = new TargetSelectors();
    for (const key of ['ns/b', 'ns/a', 'other/c', 'ns/d']) selectors.add(key);
    selectors.parse('ns/b', 'app=web');
    selectors.parse('other/c', 'app=web');
    selectors.checkAlone('ns', 'app=web', pods);
    selectors.parse('ns/a', 'tier=front');
    expect(() => selectors.checkAlone('ns', 'tier=front', pods)).toThrow(
      'pods by selector tier=front are controlled by multiple HPAs: [ns/a ns/b]',
    );
    selectors.delete('ns/b');
    selectors.checkAlone('ns', 'tier=front', pods);
  });
});
