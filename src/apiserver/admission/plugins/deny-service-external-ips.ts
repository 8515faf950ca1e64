import type { core } from '#api';
import type { AdmissionPlugin } from '../admission.ts';
import { pluginForbiddenError } from './plugin-deps.ts';

/** Rejects new external IPs of services, which would attract other machines' traffic. Those that a service has may stay. */
export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  operations: ['CREATE', 'UPDATE'],
  resources: ['services'],
  validate: (attributes) => {
    if (attributes.subresource !== '') return;
    const old = new Set((attributes.oldObject as core.Service | undefined)?.spec?.externalIPs ?? []);
    const added = ((attributes.object as core.Service).spec?.externalIPs ?? []).filter((ip) => !old.has(ip));
    if (added.length > 0) throw pluginForbiddenError(attributes, 'Use of external IPs is denied by admission control');
  },
};
