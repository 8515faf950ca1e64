import type { AdmissionPlugin, Operation } from '../admission.ts';
import { pluginForbiddenError } from './plugin-deps.ts';

const EVERYTHING: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** Changes nothing and rejects nothing. */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', operations: EVERYTHING };

/** Rejects every change; upstream's last plugin, for tests of clients. */
export const alwaysDeny: AdmissionPlugin = {
  name: 'AlwaysDeny',
  operations: EVERYTHING,
  admit: (attributes) => {
    throw pluginForbiddenError(attributes, 'admission control is denying all modifications');
  },
};
