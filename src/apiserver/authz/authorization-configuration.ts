import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { pushAll } from '#base';
import { checkDns1123Subdomain, FieldError, type Fields, fieldsOfKind, Path, parseYaml, StrictConfigurationReader } from '#machinery';
import type { KubeconfigFile } from '../webhook-client/kubeconfig-webhook.ts';
import { type MatchCondition, matchCondition } from './webhook/match-conditions.ts';
import type { WebhookAuthorizerConfig } from './webhook/webhook-authorizer.ts';

/** A validated and compiled entry of an AuthorizationConfiguration. */
export type AuthorizerConfiguration =
  | { readonly type: 'Node' | 'RBAC' | 'ABAC' | 'AlwaysAllow' | 'AlwaysDeny'; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: WebhookAuthorizerConfig; readonly kubeconfig: KubeconfigFile };

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`);
const TYPES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;
const WEBHOOK_FIELDS = [
  ...['authorizedTTL', 'unauthorizedTTL', 'cacheAuthorizedRequests', 'cacheUnauthorizedRequests', 'timeout'],
  ...['subjectAccessReviewVersion', 'matchConditionSubjectAccessReviewVersion', 'failurePolicy', 'connectionInfo', 'matchConditions'],
];
const MAX_CONDITIONS = 64;
const MAX_TIMEOUT_MS = 30_000;

/** Throws with upstream's messages. */
export function parseAuthorizationConfiguration(text: string): readonly AuthorizerConfiguration[] {
  const { value } = parseYaml(Buffer.from(text));
  const fields = fieldsOfKind(value, 'AuthorizationConfiguration', VERSIONS);
  const reader = new AuthorizationReader();
  const authorizers = reader.authorizers(fields);
  reader.throwIfInvalid();
  return authorizers;
}

class AuthorizationReader extends StrictConfigurationReader {
  readonly #types = new Set<string>();
  readonly #names = new Set<string>();

  authorizers(fields: Fields): readonly AuthorizerConfiguration[] {
    this.rejectUnknownFields(fields, ['apiVersion', 'kind', 'authorizers'], '');
    const root = Path.of('authorizers');
    const entries = this.list(fields.authorizers, 'authorizers');
    if (entries.length === 0) this.errors.push(FieldError.required(root, 'at least one authorization mode must be defined'));
    return entries.flatMap((entry, i) => this.#authorizer(this.object(entry, `authorizers[${i}]`), root.index(i)));
  }

  #authorizer(fields: Fields, path: Path): readonly AuthorizerConfiguration[] {
    this.rejectUnknownFields(fields, ['type', 'name', 'webhook'], String(path));
    const type = this.text(fields.type, `${path}.type`, '');
    const name = this.text(fields.name, `${path}.name`, '');
    const own = typeErrors(type, path.child('type'), this.#types);
    if (own.length > 0) {
      pushAll(this.errors, own);
      return [];
    }
    this.#types.add(type);
    pushAll(this.errors, nameErrors(name, path.child('name'), this.#names));
    this.#names.add(name);
    if (type === 'Webhook') return this.#webhook(fields.webhook, path, name);
    if (fields.webhook !== undefined && fields.webhook !== null)
      this.errors.push(FieldError.invalid(path.child('webhook'), 'non-null', 'may only be specified when type=Webhook'));
    return [{ type: type as Exclude<(typeof TYPES)[number], 'Webhook'>, name }];
  }

  #webhook(value: unknown, path: Path, name: string): readonly AuthorizerConfiguration[] {
    if (value === undefined || value === null) {
      this.errors.push(FieldError.required(path.child('webhook'), 'required when type=Webhook'));
      return [];
    }
    const fields = this.object(value, `${path}.webhook`);
    this.rejectUnknownFields(fields, WEBHOOK_FIELDS, `${path}.webhook`);
    const text = (member: string) => this.text(fields[member], `${path}.${member}`, '');
    const webhook: WebhookAuthorizerConfig = {
      name,
      version: this.#choice(text('subjectAccessReviewVersion'), path.child('subjectAccessReviewVersion'), ['v1', 'v1beta1']),
      authorizedTtlMs: this.#cacheTime(fields, path, { ttl: 'authorizedTTL', switch: 'cacheAuthorizedRequests', fallbackMs: 300_000 }),
      unauthorizedTtlMs: this.#cacheTime(fields, path, { ttl: 'unauthorizedTTL', switch: 'cacheUnauthorizedRequests', fallbackMs: 30_000 }),
      timeoutMs: this.#timeout(fields.timeout, path.child('timeout')),
      failurePolicy: this.#choice(text('failurePolicy'), path.child('failurePolicy'), ['NoOpinion', 'Deny']),
      matchConditions: this.#conditions(fields.matchConditions, path.child('matchConditions')),
    };
    const conditionVersion = text('matchConditionSubjectAccessReviewVersion');
    const versionPath = path.child('matchConditionSubjectAccessReviewVersion');
    if (conditionVersion === '' && webhook.matchConditions.length > 0)
      this.errors.push(FieldError.required(versionPath, 'required if match conditions are specified'));
    if (conditionVersion !== '' && conditionVersion !== 'v1')
      this.errors.push(FieldError.notSupported(versionPath, conditionVersion, ['v1']));
    const kubeconfig = this.#connection(this.object(fields.connectionInfo, `${path}.connectionInfo`), path.child('connectionInfo'));
    return [{ type: 'Webhook', name, webhook, kubeconfig }];
  }

  #choice<T extends string>(value: string, path: Path, allowed: readonly T[]): T {
    if (value === '') this.errors.push(FieldError.required(path));
    else if (!(allowed as readonly string[]).includes(value)) this.errors.push(FieldError.notSupported(path, value, allowed));
    return value as T;
  }

  /** 0: caching is disabled. */
  #cacheTime(fields: Fields, path: Path, names: { readonly ttl: string; readonly switch: string; readonly fallbackMs: number }): number {
    const ms = this.#positive(fields[names.ttl], path.child(names.ttl), names.fallbackMs);
    const isCached = fields[names.switch] ?? true;
    if (typeof isCached !== 'boolean')
      this.errors.push(FieldError.invalid(path.child(names.switch), String(isCached), 'must be true or false'));
    return isCached === false ? 0 : ms;
  }

  #positive(value: unknown, path: Path, fallbackMs: number): number {
    const ms = this.duration(value, String(path), fallbackMs);
    if (ms <= 0) this.errors.push(FieldError.invalid(path, String(value), 'must be > 0s'));
    return ms;
  }

  #timeout(value: unknown, path: Path): number {
    const ms = this.duration(value, String(path), 0);
    if (value === undefined) this.errors.push(FieldError.required(path));
    else if (ms <= 0 || ms > MAX_TIMEOUT_MS) this.errors.push(FieldError.invalid(path, String(value), 'must be > 0s and <= 30s'));
    return ms;
  }

  #connection(fields: Fields, path: Path): KubeconfigFile {
    this.rejectUnknownFields(fields, ['type', 'kubeConfigFile'], String(path));
    const type = this.text(fields.type, `${path}.type`, '');
    const file = this.text(fields.kubeConfigFile, `${path}.kubeConfigFile`, '');
    const own = path.child('kubeConfigFile');
    if (type === '') this.errors.push(FieldError.required(path.child('type')));
    else if (type === 'InClusterConfig')
      this.errors.push(FieldError.forbidden(path.child('type'), 'this server does not run in a pod; use KubeConfigFile'));
    else if (type !== 'KubeConfigFile')
      this.errors.push(FieldError.notSupported(path.child('type'), type, ['InClusterConfig', 'KubeConfigFile']));
    else if (file === '') this.errors.push(FieldError.required(own));
    else if (!isAbsolute(file)) this.errors.push(FieldError.invalid(own, file, 'must be an absolute path'));
    else return { path: file, text: this.#kubeconfig(file, own) };
    return { path: file, text: '' };
  }

  #kubeconfig(file: string, path: Path): string {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      this.errors.push(FieldError.invalid(path, file, `error loading file: ${(error as NodeJS.ErrnoException).code}`));
      return '';
    }
  }

  #conditions(value: unknown, path: Path): readonly MatchCondition[] {
    const conditions = this.list(value, String(path));
    if (conditions.length > MAX_CONDITIONS) this.errors.push(FieldError.tooMany(path, conditions.length, MAX_CONDITIONS));
    const seen = new Set<string>();
    return conditions.slice(0, MAX_CONDITIONS).flatMap((condition, i) => {
      const fields = this.object(condition, `${path}[${i}]`);
      this.rejectUnknownFields(fields, ['expression'], `${path}[${i}]`);
      const expression = this.text(fields.expression, `${path}[${i}].expression`, '');
      const own = path.index(i).child('expression');
      if (seen.has(expression)) this.errors.push(FieldError.duplicate(own, expression));
      seen.add(expression);
      return this.#condition(expression, own);
    });
  }

  #condition(expression: string, path: Path): readonly MatchCondition[] {
    if (expression.trim() === '') {
      this.errors.push(FieldError.required(path));
      return [];
    }
    try {
      return [matchCondition(expression)];
    } catch (error) {
      this.errors.push(FieldError.invalid(path, expression, (error as Error).message));
      return [];
    }
  }
}

function typeErrors(type: string, path: Path, seen: ReadonlySet<string>): readonly FieldError[] {
  if (type === '') return [FieldError.required(path)];
  if (!(TYPES as readonly string[]).includes(type)) return [FieldError.notSupported(path, type, TYPES)];
  return seen.has(type) && type !== 'Webhook' ? [FieldError.duplicate(path, type)] : [];
}

function nameErrors(name: string, path: Path, seen: ReadonlySet<string>): readonly FieldError[] {
  if (name === '') return [FieldError.required(path)];
  if (seen.has(name)) return [FieldError.duplicate(path, name)];
  const problems = checkDns1123Subdomain(name);
  return problems.length === 0 ? [] : [FieldError.invalid(path, name, `authorizer name is invalid: ${problems.join(', ')}`)];
}
