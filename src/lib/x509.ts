/**
 * The X.509 library. A module of its own, so that who rarely needs it can import it when that happens: imported late by
 * its own name it would arrive in the bundle without its exports, being CommonJS.
 */
// First: the library's dependency injection fails without it.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

export { x509 };
