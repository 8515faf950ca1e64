import { parseImageName } from './parse-image-name.ts';

/** An invalid image name, with the message that kubectl shows. */
export class ImageNameError extends Error {
  override readonly name = 'ImageNameError';
}

/** The image's name with its tag: `latest` if it has neither tag nor digest. Throws an ImageNameError. */
export function normalizedImageName(image: string): string {
  const parsed = tryParse(image);
  if (parsed === undefined) throw new ImageNameError(problemOf(image));
  const hasTag = image.slice(image.lastIndexOf('/') + 1).includes(':');
  return hasTag || parsed.digest !== undefined ? image : `${image}:latest`;
}

function problemOf(image: string): string {
  const path = tryParse(image.toLowerCase())?.path;
  if (path === undefined || image === image.toLowerCase()) return 'invalid reference format';
  const at = image.toLowerCase().indexOf(path.replace(/^library\//, ''));
  const written = image.slice(at, at + path.length);
  return `invalid reference format: repository name (${path.startsWith('library/') ? `library/${written}` : written}) must be lowercase`;
}

function tryParse(image: string) {
  try {
    return parseImageName(image);
  } catch {
    return undefined;
  }
}
