import { checkDns1035Label, checkDns1123Subdomain, checkPortNumber, FieldError, type Path, structural } from '#machinery';
import { requiredValue } from '../../field-checks.ts';
import type { CustomResourceConversion, ServiceReference, WebhookClientConfig } from './custom-resource-definition-spec.ts';

export interface ConversionRules {
  /** One of the versions of the review must be one that this server speaks. */
  readonly requireRecognizedVersion: boolean;
}

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const FORM = '; desired format: https://host[/path]';

export function validateConversion(conversion: CustomResourceConversion | undefined, path: Path, rules: ConversionRules): FieldError[] {
  if (conversion === undefined) return [];
  const errors = [...requiredValue(path.child('strategy'), conversion.strategy, STRATEGIES)];
  const { clientConfig, conversionReviewVersions = [] } = conversion.webhook ?? {};
  const clientPath = path.child('webhookClientConfig');
  const versionsPath = path.child('conversionReviewVersions');
  if (conversion.strategy === 'Webhook') {
    return [
      ...errors,
      ...validateClient(clientConfig, clientPath),
      ...validateReviewVersions(conversionReviewVersions, versionsPath, rules),
    ];
  }
  const detail = 'should not be set when strategy is not set to Webhook';
  if (clientConfig !== undefined) errors.push(FieldError.forbidden(clientPath, detail));
  if ((conversionReviewVersions ?? []).length > 0) errors.push(FieldError.forbidden(versionsPath, detail));
  return errors;
}

function validateClient(client: WebhookClientConfig | undefined, path: Path): FieldError[] {
  if (client === undefined) return [FieldError.required(path, 'required when strategy is set to Webhook')];
  const { url, service } = client;
  if ((url === undefined) === (service === undefined)) return [FieldError.required(path, 'exactly one of url or service is required')];
  if (url !== undefined) return validateWebhookUrl(url, path.child('url'));
  return service === undefined ? [] : validateService(service, path.child('service'));
}

function validateWebhookUrl(text: string, path: Path): FieldError[] {
  try {
    return urlErrors(structural.parseUrlReference(text), path);
  } catch (error) {
    if (error instanceof structural.UrlError) return [FieldError.required(path, `url must be a valid URL: ${error.message}${FORM}`)];
    throw error;
  }
}

function urlErrors({ scheme, host, user, fragment, query = '' }: structural.GoUrl, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(FieldError.invalid(path, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (host === '') errors.push(FieldError.invalid(path, host, `host must be specified${FORM}`));
  if (user !== undefined) errors.push(FieldError.invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(FieldError.invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(FieldError.invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

// Upstream confuses name and namespace here, and so do its messages.
function validateService({ name, namespace, path: urlPath, port = 443 }: ServiceReference, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (!namespace) errors.push(FieldError.required(path.child('name')));
  if (!name) errors.push(FieldError.required(path.child('namespace')));
  const problems = checkPortNumber(port);
  if (problems.length > 0) errors.push(FieldError.invalid(path.child('port'), port, `port is not valid: ${problems.join(', ')}`));
  return urlPath === undefined ? errors : [...errors, ...validateUrlPath(urlPath, path.child('path'))];
}

function validateUrlPath(text: string, path: Path): FieldError[] {
  if (text === '' || text === '/') return [];
  if (text === '//') return [FieldError.invalid(path, text, 'segment[0] may not be empty')];
  const errors = text.startsWith('/') ? [] : [FieldError.invalid(path, text, "must start with a '/'")];
  for (const [i, segment] of text.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (segment === '') errors.push(FieldError.invalid(path, text, `segment[${i}] may not be empty`));
    else for (const problem of checkDns1123Subdomain(segment)) errors.push(FieldError.invalid(path, text, `segment[${i}]: ${problem}`));
  }
  return errors;
}

function validateReviewVersions(
  versions: readonly string[] | null,
  path: Path,
  { requireRecognizedVersion }: ConversionRules,
): FieldError[] {
  if (versions === null || versions.length === 0) return [FieldError.required(path)];
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(FieldError.invalid(path.index(i), version, 'duplicate version'));
    else for (const problem of checkDns1035Label(version)) errors.push(FieldError.invalid(path.index(i), version, problem));
  }
  if (requireRecognizedVersion && !hasRecognizedReviewVersion(versions)) {
    errors.push(FieldError.invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}

export function hasRecognizedReviewVersion(versions: readonly string[]): boolean {
  return versions.some((version) => REVIEW_VERSIONS.includes(version));
}
