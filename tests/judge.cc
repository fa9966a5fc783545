// What XRootD's ztn asks of a library that judges tokens: good ones begin with "good".
#include <cstring>
#include <string>
#include <vector>
class XrdSecEntity;
class XrdSciTokensHelper {
public:
    struct ValidIssuer { std::string issuer_name, issuer_url; };
    typedef std::vector<ValidIssuer> Issuers;
    virtual Issuers IssuerList() = 0;
    virtual bool Validate(const char* token, std::string& message, long long* expires, XrdSecEntity* entity) = 0;
    virtual ~XrdSciTokensHelper() {}
};
class Judge : public XrdSciTokensHelper {
    Issuers IssuerList() override { return {}; }
    bool Validate(const char* token, std::string& message, long long*, XrdSecEntity*) override {
        message = "not good";
        return std::strncmp(token, "good", 4) == 0;
    }
};
static Judge judge;
extern "C" { XrdSciTokensHelper* SciTokensHelper = &judge; }
