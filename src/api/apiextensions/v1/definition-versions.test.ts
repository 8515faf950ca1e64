import { expect, test } from 'vitest';
import { decodeObject, type JsonValue } from '#machinery';
import { customResourceDefinitionBehaviour } from './custom-resource-definition.behaviour.ts';
import { CustomResourceDefinition } from './custom-resource-definition.ts';

test.each<[string, JsonValue, string]>([
  ['missing versions', null, 'null'],
  ['an empty list of versions', [], '[]'],
])('%s of a definition are printed in errors as they were given', (_, versions, printed) => {
  const names = { plural: 'widgets', kind: 'Widget' };
  const object = { metadata: { name: 'widgets.example.com' }, spec: { group: 'example.com', scope: 'Namespaced', names, versions } };
  const decoded = decodeObject(CustomResourceDefinition, object).object as unknown as CustomResourceDefinition;
  const errors = customResourceDefinitionBehaviour.validate?.(decoded) ?? [];
  expect(errors.map(String)).toContain(`spec.versions: Invalid value: ${printed}: must have exactly one version marked as storage version`);
});
