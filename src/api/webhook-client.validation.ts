import { checkDns1123Subdomain, checkPortNumber, FieldError, itemErrors, type Path, structural } from '#machinery';

const FORM = '; desired format: https://host[/path]';

export interface WebhookClient {
  readonly url?: string;
  readonly service?: { readonly namespace?: string; readonly name?: string; readonly path?: string; readonly port?: number };
}

/** How to reach a webhook: an https URL, or a service of the cluster. */
export function validateWebhookClient(path: Path, { url, service }: WebhookClient): FieldError[] {
  if ((url === undefined) === (service === undefined)) return [FieldError.required(path, 'exactly one of url or service is required')];
  if (url !== undefined) return validateUrl(path.child('url'), url);
  return service ? validateService(path.child('service'), service) : [];
}

function validateUrl(path: Path, text: string): FieldError[] {
  try {
    return urlErrors(path, structural.parseUrlReference(text));
  } catch (error) {
    if (error instanceof structural.UrlError) return [FieldError.required(path, `url must be a valid URL: ${error.message}${FORM}`)];
    throw error;
  }
}

function urlErrors(path: Path, { scheme, host, user, fragment, query = '' }: structural.GoUrl): FieldError[] {
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(FieldError.invalid(path, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (host === '') errors.push(FieldError.invalid(path, host, `host must be specified${FORM}`));
  if (user !== undefined) errors.push(FieldError.invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(FieldError.invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(FieldError.invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

/** Upstream confuses name and namespace in these messages, so they are the same here. */
function validateService(path: Path, { name, namespace, path: urlPath, port = 0 }: NonNullable<WebhookClient['service']>): FieldError[] {
  const errors: FieldError[] = [];
  if (!namespace) errors.push(FieldError.required(path.child('name')));
  if (!name) errors.push(FieldError.required(path.child('namespace')));
  const problems = checkPortNumber(port);
  if (problems.length > 0) errors.push(FieldError.invalid(path.child('port'), port, `port is not valid: ${problems.join(', ')}`));
  return urlPath === undefined ? errors : [...errors, ...validateUrlPath(path.child('path'), urlPath)];
}

function validateUrlPath(path: Path, text: string): FieldError[] {
  if (text === '' || text === '/') return [];
  if (text === '//') return [FieldError.invalid(path, text, 'segment[0] may not be empty')];
  const errors = text.startsWith('/') ? [] : [FieldError.invalid(path, text, "must start with a '/'")];
  const segments = text.slice(1).replace(/\/$/, '').split('/');
  return [
    ...errors,
    ...itemErrors(segments, (segment, i) => {
      const problems = segment === '' ? ['may not be empty'] : checkDns1123Subdomain(segment);
      const separator = segment === '' ? ' ' : ': ';
      return problems.map((problem) => FieldError.invalid(path, text, `segment[${i}]${separator}${problem}`));
    }),
  ];
}

/** The versions of AdmissionReview and ConversionReview that the server can send. */
export const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];

export function hasRecognizedReviewVersion(versions: readonly string[]): boolean {
  return versions.some((version) => REVIEW_VERSIONS.includes(version));
}
