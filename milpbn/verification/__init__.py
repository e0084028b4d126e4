"""Is what a model file says true? The checks of its claims, and of the certificate beside it."""

from milpbn.verification.certificate_claims import check_model
from milpbn.verification.checks import Check, Verification
from milpbn.verification.verify import verify_model

__all__ = ["Check", "Verification", "check_model", "verify_model"]
