import { mapField, mapItems, withField, withoutFields } from '../../defaulting.ts';
import type { Container, EphemeralContainer, PodSpec } from './pod-spec.ts';
import type { PodTemplateSpec } from './pod-template-spec.ts';
import type { ProjectedVolumeSource } from './projected-volume-source.ts';
import type { Volume } from './volume.ts';

/**
 * Fields that v1.36 defines but does not serve by default: certificates and trust bundles in volumes, stop signals and scheduling groups.
 * What a client sets there is dropped, as upstream does.
 */
export function dropDisabledPodFields(spec: PodSpec): PodSpec {
  let result = withoutFields(spec, 'schedulingGroup');
  result = mapField(result, 'volumes', (volumes) => mapItems(volumes, dropFromVolume));
  result = mapField(result, 'initContainers', (containers) => mapItems(containers, dropStopSignal));
  result = mapField(result, 'containers', (containers) => mapItems(containers, dropStopSignal));
  return mapField(result, 'ephemeralContainers', (containers) => mapItems(containers, dropStopSignal));
}

export function dropDisabledTemplateFields(template: PodTemplateSpec): PodTemplateSpec {
  return mapField(template, 'spec', dropDisabledPodFields);
}

function dropFromVolume(volume: Volume): Volume {
  return volume.projected ? withField(volume, 'projected', dropProjections(volume.projected)) : volume;
}

function dropProjections(projected: ProjectedVolumeSource): ProjectedVolumeSource {
  return mapField(projected, 'sources', (sources) =>
    mapItems(sources, (source) => withoutFields(source, 'clusterTrustBundle', 'podCertificate')),
  );
}

function dropStopSignal<C extends Container | EphemeralContainer>(container: C): C {
  if (container.lifecycle?.stopSignal === undefined) return container;
  const lifecycle = withoutFields(container.lifecycle, 'stopSignal');
  if (Object.keys(lifecycle).length > 0) return { ...container, lifecycle };
  return withoutFields(container, 'lifecycle');
}
