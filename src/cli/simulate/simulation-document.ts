/** Reports of simulations for machines; the dashboard reads them, too. */
import type { SimulationReport } from '../../simulator/report.ts';
import { DOCUMENT_VERSION, type ResultDocument } from '../output.ts';

export function simulationDocument(report: SimulationReport): ResultDocument & SimulationReport {
  return { apiVersion: DOCUMENT_VERSION, kind: 'Simulation', ...report };
}

export function comparisonDocument(
  reports: readonly SimulationReport[],
): ResultDocument & { readonly reports: readonly SimulationReport[] } {
  return { apiVersion: DOCUMENT_VERSION, kind: 'SimulationComparison', reports };
}
