import {
  checkDns1123Label,
  checkDns1123Subdomain,
  FieldError,
  type Fields,
  fieldsOfKind,
  type JsonValue,
  Path,
  StrictConfigurationReader,
} from '#machinery';
import type { Standard } from '../plugins/pod-security/evaluate.ts';
import { levelProblem, versionProblem } from '../plugins/pod-security/namespace-policy.ts';
import {
  NO_EXEMPTIONS,
  type PodSecurityConfiguration,
  type PodSecurityExemptions,
} from '../plugins/pod-security/pod-security-configuration.ts';

const GROUP = 'pod-security.admission.config.k8s.io';
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${GROUP}/${version}`);
const MODES = ['enforce', 'warn', 'audit'] as const;
const DEFAULTS = Path.of('defaults');

/** Throws with upstream's messages. */
export function readPodSecurity(value: JsonValue | undefined): PodSecurityConfiguration {
  const reader = new PodSecurityReader();
  const configuration = reader.configuration(value === undefined ? {} : fieldsOfKind(value, 'PodSecurityConfiguration', VERSIONS));
  reader.throwIfInvalid();
  return configuration;
}

class PodSecurityReader extends StrictConfigurationReader {
  configuration(fields: Fields): PodSecurityConfiguration {
    this.rejectUnknownFields(fields, ['apiVersion', 'kind', 'defaults', 'exemptions'], '');
    const defaults = this.object(fields.defaults, 'defaults');
    this.rejectUnknownFields(
      defaults,
      MODES.flatMap((mode) => [mode, `${mode}-version`]),
      'defaults',
    );
    const [enforce, warn, audit] = MODES.map((mode) => this.#standard(defaults, mode));
    return { defaults: { enforce: enforce!, warn: warn!, audit: audit! }, exemptions: this.#exemptions(fields.exemptions) };
  }

  #standard(fields: Fields, mode: (typeof MODES)[number]): Standard {
    const level = this.text(fields[mode], `defaults.${mode}`, 'privileged');
    const version = this.text(fields[`${mode}-version`], `defaults.${mode}-version`, 'latest');
    this.#addProblem(DEFAULTS.child(mode), level, levelProblem(level));
    this.#addProblem(DEFAULTS.child(`${mode}-version`), version, versionProblem(version));
    return { level: level as Standard['level'], version };
  }

  #exemptions(value: unknown): PodSecurityExemptions {
    const fields = this.object(value, 'exemptions');
    this.rejectUnknownFields(fields, Object.keys(NO_EXEMPTIONS), 'exemptions');
    const namespaces = this.#names(fields, 'namespaces', (name) => checkDns1123Label(name).join(', '));
    const runtimeClasses = this.#names(fields, 'runtimeClasses', (name) => checkDns1123Subdomain(name).join(', '));
    const usernames = this.#names(fields, 'usernames', (name) => (name === '' ? 'username must not be empty' : ''));
    return { namespaces, runtimeClasses, usernames };
  }

  #names(fields: Fields, list: string, problemOf: (name: string) => string): ReadonlySet<string> {
    const names = new Set<string>();
    for (const [i, item] of this.list(fields[list], `exemptions.${list}`).entries()) {
      const at = Path.of('exemptions', list).index(i);
      const name = this.text(item, String(at), '');
      const problem = problemOf(name);
      if (names.has(name)) this.errors.push(FieldError.duplicate(at, name));
      this.#addProblem(at, name, problem || undefined);
      names.add(name);
    }
    return names;
  }

  #addProblem(at: Path, value: string, problem: string | undefined): void {
    if (problem !== undefined) this.errors.push(FieldError.invalid(at, value, problem));
  }
}
