import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultSecret } from './secret.defaults.ts';
import { secretTable } from './secret.table.ts';
import { Secret } from './secret.ts';
import { validateSecret, validateSecretUpdate } from './secret.validation.ts';
import { tlsKeyPairProblem } from './tls-key-pair.ts';

function secretWarnings({ type, data }: Secret): readonly string[] {
  if (type !== 'kubernetes.io/tls') return [];
  const text = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString('latin1');
  const problem = tlsKeyPairProblem(text('tls.crt'), text('tls.key'));
  return problem === undefined ? [] : [problem];
}

export const secretBehaviour: KindBehaviour<Secret> = {
  kind: Secret,
  defaults: defaultSecret,
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
  warnings: secretWarnings,
  selectableFields: { type: ({ type }) => type ?? '' },
  table: secretTable,
};
