# The same stress with deliberate faults, which it must notice (soonest where each call moves bytes), and with the other
# way to fill pages.
gsh_test_variant(stress coherence_stress bug_upload_before_tighten WILL_FAIL ENVIRONMENT TEST_BUG=1 GPUSHIM_FUSION=0)
gsh_test_variant(stress coherence_stress bug_open_before_fill WILL_FAIL ENVIRONMENT TEST_BUG=2 GPUSHIM_FUSION=0)
gsh_test_variant(stress coherence_stress procmem ENVIRONMENT GPUSHIM_FILL=procmem)
