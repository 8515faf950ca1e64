import type { Secret } from './secret.ts';

/** Secrets are Opaque by default. stringData is merged into data. */
export function defaultSecret(secret: Secret): Secret {
  const typed = secret.type ? secret : { ...secret, type: 'Opaque' };
  if (typed.stringData === undefined) return typed;
  const { stringData, ...rest } = typed;
  const texts = Object.entries(stringData ?? {});
  if (texts.length === 0) return rest;
  const data = Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
  return { ...rest, data: { ...rest.data, ...data } };
}
