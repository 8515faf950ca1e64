import { describe, expect, it } from 'vitest';
import { templateSecret } from './template-secret.ts';

const PREFIX = 'csi.storage.k8s.io';
const token = (name: string) => `\${${name}}`;
const ANNOTATION = "pvc.annotations['example.com/secret']";
const claim = { metadata: { name: 'data', namespace: 'team', annotations: { 'example.com/secret': 'mine' } } };
const secret = (parameters: Readonly<Record<string, string>>, purpose = 'node-stage') =>
  templateSecret(parameters, purpose, { claim, volumeName: 'pvc-1' });

describe('the secret that a storage class names', () => {
  it.each([
    [token('pv.name'), 'pvc-1'],
    [`${token('pvc.namespace')}-${token('pvc.name')}`, 'team-data'],
    [token(ANNOTATION), 'mine'],
    ['plain', 'plain'],
  ])('has for the name %s the name %s', (template, name) => {
    const parameters = { [`${PREFIX}/node-stage-secret-name`]: template, [`${PREFIX}/node-stage-secret-namespace`]: 'ns' };
    expect(secret(parameters)).toEqual({ name, namespace: 'ns' });
  });

  it('is for every purpose that names none the default one', () => {
    const parameters = { [`${PREFIX}/secret-name`]: 'all', [`${PREFIX}/secret-namespace`]: token('pvc.namespace') };
    expect(secret(parameters)).toEqual({ name: 'all', namespace: 'team' });
  });

  it('may be named by the parameters from before the prefix', () => {
    const parameters = { csiNodeStageSecretName: 'old', csiNodeStageSecretNamespace: 'ns' };
    expect(secret(parameters)).toEqual({ name: 'old', namespace: 'ns' });
  });

  it.each(['pvc.name', ANNOTATION])('is not in a namespace that the owner of the claim chooses by %s', (name) => {
    const parameters = { [`${PREFIX}/node-stage-secret-name`]: 'n', [`${PREFIX}/node-stage-secret-namespace`]: token(name) };
    expect(() => secret(parameters)).toThrow(`error resolving value "${token(name)}": invalid tokens: ["${name}"]`);
  });

  it.each([
    [{ [`${PREFIX}/node-stage-secret-name`]: 'n' }, 'either name and namespace for node-stage secrets specified, Both must be specified'],
    [
      { [`${PREFIX}/node-stage-secret-name`]: '', [`${PREFIX}/node-stage-secret-namespace`]: 'ns' },
      'node-stage secrets specified in parameters but value of either namespace or name is empty',
    ],
    [
      {
        ...{ [`${PREFIX}/node-stage-secret-name`]: 'n', [`${PREFIX}/node-stage-secret-namespace`]: 'ns' },
        ...{ csiNodeStageSecretName: 'n', csiNodeStageSecretNamespace: 'ns' },
      },
      'node-stage secrets specified in parameters with both "csi" and "csi.storage.k8s.io/" keys',
    ],
  ])('is rejected for the parameters %j', (parameters, message) => {
    expect(() => secret(parameters)).toThrow(message);
  });
});
