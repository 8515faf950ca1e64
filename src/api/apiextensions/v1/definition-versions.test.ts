import { expect, test } from 'vitest';
import { decodeObject, type JsonValue } from '#machinery';
import { customResourceDefinitionBehaviour } from './custom-resource-definition.behaviour.ts';
import { CustomResourceDefinition } from './custom-resource-definition.ts';
import { printedSchema } from './internal-definition.ts';

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

test('a schema is printed with every member, set or not', () => {
  expect(JSON.stringify(printedSchema({ type: 'object' }))).toContain('"Definitions":null,"ExternalDocs":null,"Example":null');
});
