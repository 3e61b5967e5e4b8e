/** `/logo.svg`: a sheet with a seal. */
export const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="attestd"><rect x="12" y="6" width="40" height="52" rx="4" fill="#fff" stroke="#1b2a41" stroke-width="4"/><path d="M20 20h24M20 29h24" stroke="#1b2a41" stroke-width="4" stroke-linecap="round"/><circle cx="40" cy="45" r="11" fill="#0b7a53"/><path d="m35 45 4 4 7-8" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>';
