"""What the end-to-end and conformance tests share: a real control plane, and the program under test."""
