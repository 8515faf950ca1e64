import { isJsonObject, parseJson } from '#machinery';

/** One line of a policy file, in v1beta1 form. Empty members match nothing. */
export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

const API_VERSION = 'abac.authorization.kubernetes.io/v1beta1';
const ALL_AUTHENTICATED = 'system:authenticated';

/** Parses a file with one JSON object per line. Throws with the line number. */
export function parseAbacPolicies(text: string, file: string): readonly AbacPolicy[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    try {
      return [readPolicy(trimmed)];
    } catch (error) {
      throw new Error(`error reading policy file ${file}, line ${index + 1}: ${trimmed}: ${(error as Error).message}`);
    }
  });
}

function readPolicy(line: string): AbacPolicy {
  const { value } = parseJson(line);
  if (!isJsonObject(value)) throw new Error('it is no object');
  if (value.apiVersion === undefined && value.kind === undefined) return unversioned(value);
  if (value.apiVersion !== API_VERSION || value.kind !== 'Policy')
    throw new Error(`unrecognized object: it is no Policy of ${API_VERSION}`);
  return versioned(isJsonObject(value.spec) ? value.spec : {});
}

type Fields = Readonly<Record<string, unknown>>;

function versioned(spec: Fields): AbacPolicy {
  const text = textIn(spec);
  return {
    ...subject(text('user'), text('group')),
    readonly: spec.readonly === true,
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  };
}

/** The unversioned form, in which absent members match everything. */
function unversioned(fields: Fields): AbacPolicy {
  const text = textIn(fields);
  const [user, group, namespace, resource] = [text('user'), text('group'), text('namespace'), text('resource')];
  const isForEverybody = user === '' && group === '';
  return {
    ...(isForEverybody ? { user: '', group: ALL_AUTHENTICATED } : subject(user, group)),
    readonly: fields.readonly === true,
    apiGroup: '*',
    resource: resource || '*',
    namespace: namespace || '*',
    nonResourcePath: namespace === '' && resource === '' ? '*' : '',
  };
}

/** `*` does not match unauthenticated users. */
function subject(user: string, group: string): Pick<AbacPolicy, 'user' | 'group'> {
  return user === '*' || group === '*' ? { user: '', group: ALL_AUTHENTICATED } : { user, group };
}

function textIn(fields: Fields): (name: string) => string {
  return (name) => {
    const value = fields[name] ?? '';
    if (typeof value !== 'string') throw new Error(`${name} must be a string`);
    return value;
  };
}
