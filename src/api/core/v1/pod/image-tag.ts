const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const HEX_NAME = /^[a-f0-9]{64}$/;
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const DEFAULT_REPOSITORY = 'library/';
const MAX_REPOSITORY_PATH = 255;
const DOMAIN =
  /^(?:\[[0-9a-fA-F:]+\]|(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(?:\.(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*)(?::[0-9]+)?$/;

/** The common form of a reference with a tag. */
const PLAIN =
  /^[a-z0-9]+(?:[.-][a-z0-9]+)*(?::[0-9]+\/[a-z0-9]+(?:[._-][a-z0-9]+)*)?(?:\/[a-z0-9]+(?:[._-][a-z0-9]+)*)*:([\w][\w.-]{0,127})$/;

/** The default image pull policy: Always for `latest`, otherwise IfNotPresent. */
export function defaultPullPolicy(image: string | undefined): 'Always' | 'IfNotPresent' {
  return imageTag(image ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
}

/** The tag of an image reference; `latest` without tag and digest, undefined for invalid references. */
export function imageTag(image: string): string | undefined {
  const plain = PLAIN.exec(image);
  if (plain && image.length < 256) return plain[1];
  const at = image.indexOf('@');
  const digest = at < 0 ? '' : image.slice(at + 1);
  if (at >= 0 && !DIGEST.test(digest)) return undefined;
  const named = at < 0 ? image : image.slice(0, at);
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const tag = colon < 0 ? '' : named.slice(colon + 1);
  const repository = colon < 0 ? named : named.slice(0, colon);
  if ((colon >= 0 && !TAG.test(tag)) || !isRepository(repository)) return undefined;
  if (tag !== '') return tag;
  return digest === '' ? 'latest' : '';
}

function isRepository(name: string): boolean {
  if (name === '' || HEX_NAME.test(name)) return false;
  const parts = name.split('/');
  const [first = ''] = parts;
  const hasDomain = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first);
  if (hasDomain && !DOMAIN.test(first)) return false;
  const path = hasDomain ? parts.slice(1) : parts;
  // On the default registry a name of one part lies below `library/`.
  const length = path.join('/').length + (parts.length === 1 ? DEFAULT_REPOSITORY.length : 0);
  return length <= MAX_REPOSITORY_PATH && path.every((part) => COMPONENT.test(part));
}
