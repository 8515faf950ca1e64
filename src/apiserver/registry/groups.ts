import { ADMISSION_REGISTRATION } from './admissionregistration/group.ts';
import { API_EXTENSIONS } from './apiextensions/group.ts';
import { API_REGISTRATION } from './apiregistration/group.ts';
import { API_SERVER_INTERNAL } from './apiserverinternal/group.ts';
import { APPS } from './apps/group.ts';
import { AUTHENTICATION } from './authentication/group.ts';
import { AUTHORIZATION } from './authorization/group.ts';
import { AUTOSCALING } from './autoscaling/group.ts';
import { BATCH } from './batch/group.ts';
import { CERTIFICATES } from './certificates/group.ts';
import { COORDINATION } from './coordination/group.ts';
import { CORE } from './core/group.ts';
import { DISCOVERY } from './discovery/group.ts';
import { EVENTS } from './events/group.ts';
import { FLOW_CONTROL } from './flowcontrol/group.ts';
import type { RegistryGroup } from './generic/registry-group.ts';
import { NETWORKING } from './networking/group.ts';
import { NODE } from './node/group.ts';
import { POLICY } from './policy/group.ts';
import { RBAC } from './rbac/group.ts';
import { RESOURCE } from './resource/group.ts';
import { SCHEDULING } from './scheduling/group.ts';
import { STORAGE } from './storage/group.ts';
import { STORAGE_MIGRATION } from './storagemigration/group.ts';

/** Every built-in API group. */
export const BUILT_IN_GROUPS: readonly RegistryGroup[] = [
  ADMISSION_REGISTRATION,
  API_EXTENSIONS,
  API_REGISTRATION,
  API_SERVER_INTERNAL,
  APPS,
  AUTHENTICATION,
  AUTHORIZATION,
  AUTOSCALING,
  BATCH,
  CERTIFICATES,
  COORDINATION,
  CORE,
  DISCOVERY,
  EVENTS,
  FLOW_CONTROL,
  NETWORKING,
  NODE,
  POLICY,
  RBAC,
  RESOURCE,
  SCHEDULING,
  STORAGE,
  STORAGE_MIGRATION,
];
