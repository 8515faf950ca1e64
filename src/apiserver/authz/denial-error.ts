import { NO_RESOURCE, StatusError } from '#machinery';
import type { AuthorizationAttributes, Decision } from './authorizer.ts';
import { forbiddenText } from './forbidden-text.ts';

/** 403 for denied requests; 500 if the authorizer failed. */
export function denialError(attributes: AuthorizationAttributes, { reason, error }: Decision): Error {
  return error === undefined ? forbiddenError(attributes, reason) : new Error(error);
}

export function forbiddenError(attributes: AuthorizationAttributes, reason: string): StatusError {
  const { group, resource, name, isResource } = attributes;
  const detail = forbiddenText(attributes) + (reason === '' ? '' : `: ${reason}`);
  return StatusError.forbidden(isResource ? { group, resource } : NO_RESOURCE, isResource ? name : '', detail);
}
