import { expect, test } from 'vitest';
import { Container, EphemeralContainer } from '../container/container.ts';

test('fields that ephemeral containers share with containers have the same merge rules', () => {
  for (const { name, schema, required, patchStrategies, patchMergeKey } of Container.fields) {
    expect(EphemeralContainer.fieldsByName.get(name), name).toMatchObject({
      schema,
      required,
      patchStrategies,
      ...(patchMergeKey && { patchMergeKey }),
    });
  }
});
