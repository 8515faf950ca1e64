import { expect, it } from 'vitest';
import type { CustomResourceDefinition } from '../v1/custom-resource-definition.ts';
import { definitionFromV1, definitionToV1 } from './conversion.ts';

const NAMES = { plural: 'widgets', kind: 'Widget' };
const COLUMN = { name: 'Size', type: 'integer', jsonPath: '.spec.size' };
const SCHEMA = { openAPIV3Schema: { type: 'object' } };
const version = (name: string, rest: object = {}) => ({ name, served: true, storage: name === 'v1', ...rest });
const definition = (versions: readonly object[], rest: object = {}) =>
  ({
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', names: NAMES, scope: 'Namespaced', versions, conversion: { strategy: 'None' }, ...rest },
    status: {},
  }) as unknown as CustomResourceDefinition;

it.each([
  ['one version', definition([version('v1', { schema: SCHEMA, additionalPrinterColumns: [COLUMN], subresources: { status: {} } })])],
  ['versions that differ', definition([version('v1', { schema: SCHEMA }), version('v2', { additionalPrinterColumns: [COLUMN] })])],
  ['a version with a selectable field', definition([version('v1', { selectableFields: [{ jsonPath: '.spec.color' }] })])],
  [
    'conversion by webhook',
    definition([version('v1')], {
      conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] } },
    }),
  ],
  ['fields outside the schema', definition([version('v1')], { preserveUnknownFields: true })],
])('a definition with %s is the same after it was stored', (_what, original) => {
  expect(definitionToV1(definitionFromV1(original))).toEqual(original);
});

it('fields that are equal in all versions are at the top level of v1beta1', () => {
  const { spec } = definitionFromV1(definition([version('v1', { schema: SCHEMA }), version('v2', { schema: SCHEMA })]));
  expect(spec).toMatchObject({ version: 'v1', validation: SCHEMA, versions: [version('v1'), version('v2')] });
});

it('a v1beta1 definition has the defaults of v1beta1', () => {
  const spec = { group: 'example.com', version: 'v1', names: NAMES, scope: '' };
  const { spec: read } = definitionToV1({ metadata: { name: 'widgets.example.com' }, spec, status: {} } as never);
  expect(read).toEqual({
    ...{ group: 'example.com', names: NAMES, scope: 'Namespaced', conversion: { strategy: 'None' }, preserveUnknownFields: true },
    versions: [{ name: 'v1', served: true, storage: true }],
  });
});
