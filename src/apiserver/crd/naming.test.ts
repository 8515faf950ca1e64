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

test('a definition with an invalid caBundle of its conversion webhook is not established', () => {
  expect(namingOf(definition('Cg=='), [])).toMatchObject({
    namesAccepted: { status: 'True' },
    established: { type: 'Established', status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' },
  });
  expect(namingOf(definition(''), []).established).toMatchObject({ status: 'True', reason: 'InitialNamesAccepted' });
});

test('an established definition stays established', () => {
  const served = definition('Cg==', [{ type: 'Established', status: 'True' }]);
  expect(namingOf(served, []).established).toMatchObject({ status: 'True' });
});

function named(names: object, acceptedNames: object = {}): Definition {
  const object = { metadata: { name: 'x.example.com' }, spec: { group: 'example.com', names }, status: { acceptedNames } };
  return object as unknown as Definition;
}

const holder = named({}, { plural: 'widgets', singular: 'widget', shortNames: ['wd', 'wg'], kind: 'Widget', listKind: 'WidgetList' });
const gadget = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };

test.each([
  [['wd', 'free'], '"wd" is already in use'],
  [['wg', 'free', 'wd'], '["wg" is already in use, "wd" is already in use]'],
])('of the short names %j none is accepted while others hold some', (shortNames, message) => {
  const { acceptedNames, namesAccepted } = namingOf(named({ ...gadget, shortNames }), [holder]);
  expect(namesAccepted).toMatchObject({ status: 'False', reason: 'ShortNamesConflict', message });
  expect(acceptedNames).toEqual(gadget);
});

test('a short name that repeats an accepted name of the same definition is a conflict', () => {
  const requested = { ...gadget, shortNames: ['gadget'] };
  expect(namingOf(named(requested), []).namesAccepted.status).toBe('True');
  expect(namingOf(named(requested, gadget), []).namesAccepted).toMatchObject({ status: 'False', message: '"gadget" is already in use' });
});
