"""Code for other processors, run by emulators; each test says what it needs."""
