# Small spectra for tests.

# spectrum TITLE PRECURSOR SMILES 'M/Z INTENSITY'...: one record of an MGF file
spectrum() {
    printf 'BEGIN IONS\nTITLE=%s\nPEPMASS=%s\nADDUCT=[M+H]+\nSMILES=%s\n' "$1" "$2" "$3"
    printf '%s\n' "${@:4}" 'END IONS'
}
ethanol() { spectrum ethanol 47.0491 CCO '29.04 10' '31.02 40'; }
propanol() { spectrum propanol 61.0648 CCCO '31.02 20' '43.05 80'; }
