import { expect, test } from 'vitest';
import type { apiextensions } from '#api';
import { namingOf } from './naming.ts';

type Definition = apiextensions.CustomResourceDefinition;

function definition(caBundle: string, conditions: readonly object[] = []): Definition {
  const names = { plural: 'widgets', kind: 'Widget' };
  const conversion = { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://a.example.com', caBundle } } };
  const object = { metadata: { name: 'widgets.example.com' }, spec: { group: 'example.com', names, conversion }, status: { conditions } };
  return object as unknown as Definition;
}

test('a definition is not served before its webhook can be trusted', () => {
  expect(namingOf(definition('Cg=='), [])).toMatchObject({
    namesAccepted: { status: 'True' },
    established: { type: 'Established', status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' },
  });
  expect(namingOf(definition(''), []).established).toMatchObject({ status: 'True', reason: 'InitialNamesAccepted' });
});

test('a definition that is served stays so', () => {
  const served = definition('Cg==', [{ type: 'Established', status: 'True' }]);
  expect(namingOf(served, []).established).toMatchObject({ status: 'True' });
});
