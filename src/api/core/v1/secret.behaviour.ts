import type { KindBehaviour } from '../../behaviour.ts';
import { defaultSecret } from './secret.defaults.ts';
import { secretTable } from './secret.table.ts';
import { Secret } from './secret.ts';
import { validateSecret, validateSecretUpdate } from './secret.validation.ts';

export const secretBehaviour: KindBehaviour<Secret> = {
  kind: Secret,
  defaults: defaultSecret,
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
  selectableFields: { type: ({ type }) => type ?? '' },
  table: secretTable,
};
