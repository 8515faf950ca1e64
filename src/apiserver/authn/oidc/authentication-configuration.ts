import { X509Certificate } from 'node:crypto';
import { pushAll } from '#base';
import {
  type cel,
  FieldError,
  type Fields,
  fieldsOfKind,
  Path,
  parseYaml,
  StrictConfigurationReader,
  validateDomainPrefixedPath,
} from '#machinery';
import { CLAIM_RESULTS, claimsExpression, userExpression } from './claim-expressions.ts';
import type { ClaimValidationRule, Expression, JwtConfiguration, Mapping, ValidationRule } from './jwt-configuration.ts';

/** A validated and compiled AuthenticationConfiguration. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtConfiguration[];
  /** Absent: by flags. */
  readonly anonymous?: AnonymousConfiguration | undefined;
}

export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** Undefined: every path. */
  readonly paths?: ReadonlySet<string> | undefined;
}

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`);
const MAX_ISSUERS = 64;
const NO_EXPRESSION: Expression = { text: '', evaluate: () => undefined };
const EMAIL_RULE =
  'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression';

/** Throws with upstream's messages. `disallowedIssuers` are the service account issuers. */
export function parseAuthenticationConfiguration(text: string, disallowedIssuers: readonly string[]): AuthenticationConfiguration {
  const { value } = parseYaml(Buffer.from(text));
  const fields = fieldsOfKind(value, 'AuthenticationConfiguration', VERSIONS);
  const reader = new AuthenticationReader(disallowedIssuers);
  const configuration = reader.configuration(fields);
  reader.throwIfInvalid();
  return configuration;
}

class AuthenticationReader extends StrictConfigurationReader {
  constructor(private readonly disallowedIssuers: readonly string[]) {
    super();
  }

  configuration(fields: Fields): AuthenticationConfiguration {
    this.rejectUnknownFields(fields, ['apiVersion', 'kind', 'jwt', 'anonymous'], '');
    const entries = this.list(fields.jwt, 'jwt');
    const root = Path.of('jwt');
    if (entries.length > MAX_ISSUERS) this.errors.push(FieldError.tooMany(root, entries.length, MAX_ISSUERS));
    const jwt = entries.slice(0, MAX_ISSUERS).map((entry, i) => this.#jwt(this.object(entry, `jwt[${i}]`), root.index(i)));
    this.#rejectDuplicates(
      jwt.map(({ issuer }) => issuer.url),
      (i) => root.index(i).child('issuer', 'url'),
    );
    this.#rejectDuplicates(
      jwt.map(({ issuer }) => issuer.discoveryUrl ?? ''),
      (i) => root.index(i).child('issuer', 'discoveryURL'),
    );
    return { jwt, ...(fields.anonymous !== undefined && { anonymous: this.#anonymous(this.object(fields.anonymous, 'anonymous')) }) };
  }

  #rejectDuplicates(values: readonly string[], path: (index: number) => Path): void {
    values.forEach((value, i) => {
      if (value !== '' && values.indexOf(value) < i) this.errors.push(FieldError.duplicate(path(i), value));
    });
  }

  #anonymous(fields: Fields): AnonymousConfiguration {
    this.rejectUnknownFields(fields, ['enabled', 'conditions'], 'anonymous');
    const enabled = this.boolean(fields.enabled, 'anonymous.enabled', false);
    const conditions = this.list(fields.conditions, 'anonymous.conditions').map((condition, i) => {
      const own = this.object(condition, `anonymous.conditions[${i}]`);
      this.rejectUnknownFields(own, ['path'], `anonymous.conditions[${i}]`);
      return this.text(own.path, `anonymous.conditions[${i}].path`, '');
    });
    if (!enabled && conditions.length > 0) {
      const detail = 'enabled should be set to true when conditions are defined';
      this.errors.push(FieldError.invalid(Path.of('anonymous').child('conditions'), conditions, detail));
    }
    return { enabled, ...(conditions.length > 0 && { paths: new Set(conditions) }) };
  }

  #jwt(fields: Fields, path: Path): JwtConfiguration {
    this.rejectUnknownFields(fields, ['issuer', 'claimValidationRules', 'claimMappings', 'userValidationRules'], String(path));
    const issuer = this.#issuer(this.object(fields.issuer, `${path}.issuer`), path.child('issuer'));
    const rules = this.list(fields.claimValidationRules, `${path}.claimValidationRules`);
    const claimValidationRules = rules.flatMap((rule, i) => this.#claimRule(rule, path.child('claimValidationRules').index(i)));
    const claimMappings = this.#mappings(this.object(fields.claimMappings, `${path}.claimMappings`), path.child('claimMappings'));
    const userRules = this.list(fields.userValidationRules, `${path}.userValidationRules`);
    const userValidationRules = userRules.map((rule, i) => this.#userRule(rule, path.child('userValidationRules').index(i)));
    this.#checkEmail({ claimMappings, claimValidationRules }, path.child('claimMappings', 'username', 'expression'));
    return { issuer, claimValidationRules, claimMappings, userValidationRules };
  }

  #issuer(fields: Fields, path: Path): JwtConfiguration['issuer'] {
    const names = ['url', 'discoveryURL', 'certificateAuthority', 'audiences', 'audienceMatchPolicy', 'egressSelectorType'];
    this.rejectUnknownFields(fields, names, String(path));
    const text = (name: string) => this.text(fields[name], `${path}.${name}`, '');
    const [url, discoveryUrl, certificateAuthority, policy] = names.slice(0, 3).concat('audienceMatchPolicy').map(text) as [
      string,
      string,
      string,
      string,
    ];
    const audiences = this.list(fields.audiences, `${path}.audiences`).map((item, i) => this.text(item, `${path}.audiences[${i}]`, ''));
    pushAll(this.errors, issuerErrors({ url, discoveryUrl, certificateAuthority }, path, this.disallowedIssuers));
    pushAll(this.errors, audienceErrors(audiences, policy, path));
    const egress = this.#egress(text('egressSelectorType'), path.child('egressSelectorType'));
    return { url, ...(discoveryUrl && { discoveryUrl }), ...(certificateAuthority && { certificateAuthority }), audiences, ...egress };
  }

  #egress(name: string, path: Path): Pick<JwtConfiguration['issuer'], 'egress'> {
    if (name === 'controlplane' || name === 'cluster') return { egress: name };
    if (name !== '') this.errors.push(FieldError.invalid(path, name, 'egress selector must be either controlplane or cluster'));
    return {};
  }

  #claimRule(value: unknown, path: Path): readonly ClaimValidationRule[] {
    const fields = this.object(value, String(path));
    this.rejectUnknownFields(fields, ['claim', 'requiredValue', 'expression', 'message'], String(path));
    const text = (name: string) => this.text(fields[name], `${path}.${name}`, '');
    const [claim, requiredValue, expression, message] = ['claim', 'requiredValue', 'expression', 'message'].map(text) as [
      string,
      string,
      string,
      string,
    ];
    if (claim !== '' && expression !== '') this.errors.push(FieldError.invalid(path, claim, "claim and expression can't both be set"));
    if (claim === '' && expression === '') this.errors.push(FieldError.required(path, 'claim or expression is required'));
    if (claim !== '' && message !== '')
      this.errors.push(FieldError.invalid(path.child('message'), message, 'may not be specified when claim is set'));
    if (expression !== '' && requiredValue !== '')
      this.errors.push(FieldError.invalid(path.child('requiredValue'), requiredValue, 'may not be specified when expression is set'));
    if (claim !== '') return [{ claim, requiredValue }];
    return [{ expression: this.#claims(expression, path.child('expression'), CLAIM_RESULTS.bool), message }];
  }

  #userRule(value: unknown, path: Path): ValidationRule {
    const fields = this.object(value, String(path));
    this.rejectUnknownFields(fields, ['expression', 'message'], String(path));
    const expression = this.text(fields.expression, `${path}.expression`, '');
    const message = this.text(fields.message, `${path}.message`, '');
    return { expression: this.#compile(expression, path.child('expression'), userExpression), message };
  }

  #mappings(fields: Fields, path: Path): JwtConfiguration['claimMappings'] {
    this.rejectUnknownFields(fields, ['username', 'groups', 'uid', 'extra'], String(path));
    const of = (name: string, results: readonly cel.CelType[]) =>
      this.#mapping(this.object(fields[name], `${path}.${name}`), path.child(name), { results, isPrefixed: name !== 'uid' });
    const username = of('username', CLAIM_RESULTS.string);
    if (username === undefined) this.errors.push(FieldError.required(path.child('username'), 'claim or expression is required'));
    const extra = this.list(fields.extra, `${path}.extra`).map((entry, i) => this.#extra(entry, path.child('extra').index(i)));
    this.#rejectDuplicates(
      extra.map(({ key }) => key),
      (i) => path.child('extra').index(i).child('key'),
    );
    const groups = of('groups', CLAIM_RESULTS.strings);
    return { username: username ?? { claim: '', prefix: '' }, groups, uid: of('uid', CLAIM_RESULTS.string), extra };
  }

  #mapping(
    fields: Fields,
    path: Path,
    { results, isPrefixed }: { results: readonly cel.CelType[]; isPrefixed: boolean },
  ): Mapping | undefined {
    this.rejectUnknownFields(fields, ['claim', 'expression', ...(isPrefixed ? ['prefix'] : [])], String(path));
    const claim = this.text(fields.claim, `${path}.claim`, '');
    const expression = this.text(fields.expression, `${path}.expression`, '');
    const hasPrefix = fields.prefix !== undefined;
    if (claim !== '' && expression !== '') this.errors.push(FieldError.invalid(path, '', "claim and expression can't both be set"));
    if (expression !== '' && hasPrefix)
      this.errors.push(FieldError.invalid(path.child('prefix'), fields.prefix, "prefix can't be set when expression is set"));
    if (claim !== '' && isPrefixed && !hasPrefix)
      this.errors.push(
        FieldError.required(
          path.child('prefix'),
          'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
        ),
      );
    if (expression !== '') return { expression: this.#claims(expression, path.child('expression'), results) };
    return claim === '' ? undefined : { claim, prefix: this.text(fields.prefix, `${path}.prefix`, '') };
  }

  #extra(value: unknown, path: Path): { readonly key: string; readonly value: Expression } {
    const fields = this.object(value, String(path));
    this.rejectUnknownFields(fields, ['key', 'valueExpression'], String(path));
    const key = this.text(fields.key, `${path}.key`, '');
    pushAll(this.errors, extraKeyErrors(key, path.child('key')));
    const expression = this.text(fields.valueExpression, `${path}.valueExpression`, '');
    return { key, value: this.#claims(expression, path.child('valueExpression'), CLAIM_RESULTS.strings) };
  }

  #claims(text: string, path: Path, results: readonly cel.CelType[]): Expression {
    return this.#compile(text, path, (expression) => claimsExpression(expression, results));
  }

  #compile(text: string, path: Path, compile: (text: string) => Expression): Expression {
    if (text === '') {
      this.errors.push(FieldError.required(path));
      return NO_EXPRESSION;
    }
    try {
      return compile(text);
    } catch (error) {
      this.errors.push(FieldError.invalid(path, text, (error as Error).message));
      return NO_EXPRESSION;
    }
  }

  /** An unverified e-mail address may belong to another person. */
  #checkEmail({ claimMappings, claimValidationRules }: Pick<JwtConfiguration, 'claimMappings' | 'claimValidationRules'>, path: Path): void {
    const { username, extra } = claimMappings;
    if (!('expression' in username) || !/\bclaims\.\??email\b/.test(username.expression.text)) return;
    const rules = claimValidationRules.flatMap((rule) => ('expression' in rule ? [rule.expression.text] : []));
    const texts = [username.expression.text, ...extra.map(({ value }) => value.text), ...rules];
    if (!texts.some((text) => /\bemail_verified\b/.test(text)))
      this.errors.push(FieldError.invalid(path, username.expression.text, EMAIL_RULE));
  }
}

function issuerErrors(
  issuer: { readonly url: string; readonly discoveryUrl: string; readonly certificateAuthority: string },
  path: Path,
  disallowed: readonly string[],
): readonly FieldError[] {
  const { url, discoveryUrl, certificateAuthority } = issuer;
  const errors: FieldError[] = url === '' ? [FieldError.required(path.child('url'))] : [...urlErrors(url, path.child('url'))];
  if (disallowed.includes(url))
    errors.push(FieldError.invalid(path.child('url'), url, `URL must not overlap with disallowed issuers: [${disallowed.join(' ')}]`));
  if (discoveryUrl !== '') {
    if (trimmed(discoveryUrl) === trimmed(url))
      errors.push(FieldError.invalid(path.child('discoveryURL'), discoveryUrl, 'discoveryURL must be different from URL'));
    pushAll(errors, urlErrors(discoveryUrl, path.child('discoveryURL')));
  }
  if (certificateAuthority !== '' && !isCertificate(certificateAuthority)) {
    const detail = 'data does not contain any valid RSA or ECDSA certificates';
    errors.push(FieldError.invalid(path.child('certificateAuthority'), '<omitted>', detail));
  }
  return errors;
}

function trimmed(url: string): string {
  return url.endsWith('/') ? trimmed(url.slice(0, -1)) : url;
}

function urlErrors(text: string, path: Path): readonly FieldError[] {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    return [FieldError.invalid(path, text, (error as Error).message)];
  }
  const problems = [
    ...(url.protocol === 'https:' ? [] : ['URL scheme must be https']),
    ...(url.username === '' && url.password === '' ? [] : ['URL must not contain a username or password']),
    ...(url.search === '' ? [] : ['URL must not contain a query']),
    ...(url.hash === '' ? [] : ['URL must not contain a fragment']),
  ];
  return problems.map((problem) => FieldError.invalid(path, text, problem));
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem) !== undefined;
  } catch {
    return false;
  }
}

function audienceErrors(audiences: readonly string[], policy: string, path: Path): readonly FieldError[] {
  const own = path.child('audiences');
  const errors: FieldError[] = audiences.length === 0 ? [FieldError.required(own, `at least one ${own} is required`)] : [];
  audiences.forEach((audience, i) => {
    if (audience === '') errors.push(FieldError.required(own.index(i)));
    else if (audiences.indexOf(audience) < i) errors.push(FieldError.duplicate(own.index(i), audience));
  });
  const several = 'audienceMatchPolicy must be MatchAny for multiple audiences';
  const single = 'audienceMatchPolicy must be empty or MatchAny for single audience';
  const isBad = policy !== 'MatchAny' && (audiences.length > 1 || policy !== '');
  if (isBad) errors.push(FieldError.invalid(path.child('audienceMatchPolicy'), policy, audiences.length > 1 ? several : single));
  return errors;
}

const RESERVED = /(^|\.)(kubernetes|k8s)\.io$/;

function extraKeyErrors(key: string, path: Path): readonly FieldError[] {
  const errors = [...validateDomainPrefixedPath(path, key)];
  if (key !== key.toLowerCase()) errors.push(FieldError.invalid(path, key, 'must be lowercase'));
  if (RESERVED.test(key.split('/', 1)[0]!))
    errors.push(FieldError.invalid(path, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'));
  return errors;
}
