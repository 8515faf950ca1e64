import { expect, test } from 'vitest';
import { Container, EphemeralContainer } from '../container/container.ts';

test('what an ephemeral container has in common with others merges alike', () => {
  for (const { name, schema, required, patchStrategies, patchMergeKey } of Container.fields) {
    expect(EphemeralContainer.fieldsByName.get(name), name).toMatchObject({
      schema,
      required,
      patchStrategies,
      ...(patchMergeKey && { patchMergeKey }),
    });
  }
});
