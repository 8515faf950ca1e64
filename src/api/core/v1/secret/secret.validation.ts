import { pushAll } from '#base';
import { checkConfigMapKey, FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable, invalidErrors } from '../../../field-checks.ts';
import { METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import { base64Size, MAX_DATA_BYTES, validateFrozen } from '../config-map/config-map.validation.ts';
import { jsonProblem } from './json-document.ts';
import type { Secret } from './secret.ts';

const SERVICE_ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const DATA = Path.of('data');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

export function validateSecret(secret: Secret): FieldError[] {
  const errors = validateObjectMeta(secret.metadata, META);
  let size = 0;
  for (const [key, value] of Object.entries(secret.data ?? {})) {
    pushAll(errors, invalidErrors(DATA.key(key), key, checkConfigMapKey(key)));
    size += base64Size(value);
  }
  if (size > MAX_DATA_BYTES) errors.push(FieldError.tooLong(DATA, MAX_DATA_BYTES));
  return [...errors, ...validateByType(secret)];
}

/** Secret types with required keys. */
function validateByType(secret: Secret): readonly FieldError[] {
  const data = secret.data ?? {};
  const has = (key: string) => Object.hasOwn(data, key);
  const missing = (...keys: readonly string[]) => keys.filter((key) => !has(key)).map((key) => FieldError.required(DATA.key(key)));
  switch (secret.type) {
    case 'kubernetes.io/service-account-token':
      return secret.metadata.annotations?.[SERVICE_ACCOUNT_NAME]
        ? []
        : [FieldError.required(METADATA.child('annotations').key(SERVICE_ACCOUNT_NAME))];
    case 'kubernetes.io/dockercfg':
      return validateJson(data, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateJson(data, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return has('username') || has('password') ? [] : missing('username', 'password');
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [FieldError.required(DATA.key('ssh-privatekey'))];
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key');
    default:
      return [];
  }
}

function validateJson(data: Readonly<Record<string, string>>, key: string): readonly FieldError[] {
  const value = data[key];
  if (value === undefined) return [FieldError.required(DATA.key(key))];
  const problem = jsonProblem(Buffer.from(value, 'base64').toString(), { type: 'object', goType: 'map[string]interface {}' });
  return problem ? [FieldError.invalid(DATA.key(key), '<secret contents redacted>', problem)] : [];
}

export function validateSecretUpdate(secret: Secret, old: Secret): FieldError[] {
  return [
    ...validateObjectMetaUpdate(secret.metadata, old.metadata),
    ...immutable(Path.of('type'), { value: secret.type ?? '', old: old.type ?? '' }),
    ...validateFrozen(secret, old, ['data']),
    ...validateSecret(secret),
  ];
}
