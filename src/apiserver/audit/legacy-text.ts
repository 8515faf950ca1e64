import { goQuote } from '#machinery';
import type { AuditEvent } from './audit-event.ts';

/** The event in upstream's format `legacy`: one line. */
export function legacyText(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus, sourceIPs } = event;
  const fields: readonly (readonly [string, string])[] = [
    ['id', event.auditID],
    ['stage', event.stage],
    ['ip', sourceIPs[0] ?? '<unknown>'],
    ['method', event.verb],
    ['user', user.username || '<none>'],
    ['groups', user.username && user.groups?.length ? list(user.groups) : '<none>'],
    ['as', impersonatedUser?.username ?? '<self>'],
    ['asgroups', impersonatedUser?.groups ? list(impersonatedUser.groups) : '<lookup>'],
    ['user-agent', event.userAgent ?? ''],
    ['namespace', objectRef?.namespace || '<none>'],
    ['uri', event.requestURI],
  ];
  const text = fields.map(([name, value]) => `${name}=${goQuote(value)}`).join(' ');
  return `${event.requestReceivedTimestamp} AUDIT: ${text} response="${responseStatus?.code ?? '<deferred>'}"`;
}

function list(values: readonly string[]): string {
  return values.map(goQuote).join(',');
}
